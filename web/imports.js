// SPDX-License-Identifier: MIT
// Emscripten 3.1.6 knows pointers of 64 bits in part of its JavaScript only: some functions take them as BigInt and some as
// numbers. Here all get numbers, and what C expects as 64 bits is returned so.
Module["instantiateWasm"] = (imports, receive) => {
  const wide = /^(__syscall_.*|_mmap_js|_munmap_js|time|emscripten_memcpy_big|emscripten_get_heap_max)$/;
  for (const part of Object.values(imports))
    for (const [name, body] of Object.entries(part))
      if (typeof body === "function" && name !== "fd_seek")
        part[name] = (...words) => {
          const value = body(...words.map((word) => (typeof word === "bigint" ? Number(word) : word)));
          return wide.test(name) && typeof value !== "bigint" ? BigInt(value ?? 0) : value;
        };
  // Vectors of buffers: a pointer and a length of 64 bits each.
  const each = (move) => (stream, vector, count, offset) => {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const at = Number(HEAP64[(vector >> 3) + 2 * i]), size = Number(HEAP64[(vector >> 3) + 2 * i + 1]);
      const done = move(stream, HEAP8, at, size, offset === undefined ? undefined : offset + sum);
      if (done < 0) return -1;
      sum += done;
      if (done < size) break;
    }
    return sum;
  };
  SYSCALLS.doReadv = each((...words) => FS.read(...words));
  SYSCALLS.doWritev = each((...words) => FS.write(...words));
  // Seconds and nanoseconds, of which only the lower halves are set.
  for (const part of Object.values(imports)) {
    if (part["clock_gettime"]) {
      const clock = part["clock_gettime"];
      part["clock_gettime"] = (id, to) => {
        HEAP64[Number(to) >> 3] = HEAP64[(Number(to) >> 3) + 1] = 0n;
        return clock(id, to);
      };
    }
  }
  // There is no environment.
  imports["wasi_snapshot_preview1"]["environ_sizes_get"] = (count, bytes) => {
    HEAP64[Number(count) >> 3] = HEAP64[Number(bytes) >> 3] = 0n;
    return 0;
  };
  imports["wasi_snapshot_preview1"]["environ_get"] = () => 0;
  // Texts go to the page, which is no terminal: all files are regular ones.
  imports["wasi_snapshot_preview1"]["fd_fdstat_get"] = (fd, to) => {
    HEAP8[Number(to)] = 4;
    return 0;
  };
  const seek = imports["wasi_snapshot_preview1"]["fd_seek"];
  imports["wasi_snapshot_preview1"]["fd_seek"] = (fd, offset, whence, at) => seek(fd, offset, whence, Number(at));
  const found = ENVIRONMENT_IS_NODE
    ? WebAssembly.instantiate(require("fs").readFileSync(__dirname + "/wavemem.wasm"), imports)
    : fetch("wavemem.wasm").then((response) => response.arrayBuffer()).then((bytes) => WebAssembly.instantiate(bytes, imports));
  found.then((made) => receive(made.instance, made.module), (error) => abort(error));
  return {};
};
