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
  // There is no environment.
  imports["wasi_snapshot_preview1"]["environ_sizes_get"] = (count, bytes) => {
    HEAP64[Number(count) >> 3] = HEAP64[Number(bytes) >> 3] = 0n;
    return 0;
  };
  imports["wasi_snapshot_preview1"]["environ_get"] = () => 0;
  const seek = imports["wasi_snapshot_preview1"]["fd_seek"];
  imports["wasi_snapshot_preview1"]["fd_seek"] = (fd, offset, whence, at) => seek(fd, offset, whence, Number(at));
  const found = ENVIRONMENT_IS_NODE
    ? WebAssembly.instantiate(require("fs").readFileSync(__dirname + "/wavemem.wasm"), imports)
    : fetch("wavemem.wasm").then((response) => response.arrayBuffer()).then((bytes) => WebAssembly.instantiate(bytes, imports));
  found.then((made) => receive(made.instance, made.module), (error) => abort(error));
  return {};
};
