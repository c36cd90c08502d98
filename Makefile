# SPDX-License-Identifier: MIT
# A short front to Meson and Ninja, for people who type `make`. Each target does the set-up that it needs.
BUILD ?= build
PREFIX ?= /usr/local
# GNU make's -j goes to ninja, which otherwise uses all CPUs.
JOBS = $(filter -j%,$(MAKEFLAGS))

all:
	@dev/setup build
	@dev/configure $(BUILD)
	@ninja -C $(BUILD) $(JOBS)

# Profiles a matrix transpose: naive, through LDS, and through LDS with padding; then a whole HIP program.
demo:
	@dev/setup build hip
	@$(MAKE) --no-print-directory all
	@dev/demo $(BUILD)/wavemem

# Ends with "N passed, N failed, N skipped"; the whole log is in build/meson-logs/testlog.txt. TESTS: further arguments of
# `meson test`, for example TESTS='--suite unit'.
test:
	@dev/setup build test
	@dev/configure $(BUILD) -Dtests=enabled
	@ninja -C $(BUILD) $(JOBS)
	@rm -f $(BUILD)/meson-logs/testlog.json
	@status=0; meson test -C $(BUILD) --no-rebuild --print-errorlogs $(TESTS) || status=$$?; \
	    python3 dev/summary.py $(BUILD)/meson-logs/testlog.json && exit $$status

# All stages of .ci/run with all their tests and long fuzzing, the listings of all 777 code objects of librocsparse0 (1.3 GB
# when installed) against LLVM's, all examples for
# all targets through our assembler and LLVM's, builds without optional libraries, the binary interface against the last
# release's, and for root the packages in a fresh root: two hours.
TARGETS = gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a gfx942 gfx1010 gfx1030 gfx1100 gfx1150 gfx1200 gfx9-generic \
    gfx10-1-generic gfx10-3-generic gfx11-generic gfx12-generic
ROCSPARSE ?= /usr/lib/x86_64-linux-gnu/librocsparse.so.0
test-all:
	@.ci/run --here --all
	@tests/oracle/library_objdump.py $(BUILD)/wavemem $(ROCSPARSE) || [ $$? = 77 ]
	@tests/oracle/assembled_files.py $(BUILD)/wavemem tests/oracle/compiled.cl examples/*.cl $(TARGETS) || [ $$? = 77 ]
	@tests/check/mutants.py $(BUILD)/wavemem $(BUILD)/tests/check/mutants tests/check/mutants.list || [ $$? = 77 ]
	@tests/tool/reduced.py build-reduced
	@dev/abi || [ $$? = 77 ]
	@$(MAKE) --no-print-directory test-web
	@[ "$$(id -u)" != 0 ] || $(MAKE) test-packages

ROCRAND ?= /usr/lib/x86_64-linux-gnu/librocrand.so.1
bench:
	@dev/setup build bench
	@dev/configure $(BUILD) -Dpocl=enabled
	@ninja -C $(BUILD) $(JOBS)
	@ninja -C $(BUILD) micro
	@ninja -C $(BUILD) buffers
	@bench/programs.py $(BUILD)/wavemem || [ $$? = 77 ]
	@ninja -C $(BUILD) bench
	@tests/oracle/library_objdump.py $(BUILD)/wavemem $(ROCSPARSE) 10 || [ $$? = 77 ]
	@bench/assemble.py $(BUILD)/wavemem $(ROCRAND) examples gfx900 gfx1030 || [ $$? = 77 ]

# Below PREFIX, in DESTDIR if that is given. The dynamic loader learns of a new library from ldconfig.
install:
	@dev/setup build
	@dev/configure $(BUILD) -Dprefix=$(PREFIX)
	@ninja -C $(BUILD) $(JOBS)
	@meson install -C $(BUILD) --no-rebuild
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig

# dist/: the source of the last commit, and the command as one static file. build-deb/: Debian packages.
dist:
	@dev/setup build
	@dev/dist
deb:
	@dev/setup packages
	@dev/deb
# Installs the packages in a fresh Debian 12 root and tries them there; needs root and Debian's archive.
test-packages:
	@dev/setup packages
	@dev/packages

# The playground for browsers, in build-web/site, and its tests.
web:
	@dev/setup web
	@dev/web
test-web: web
	@node tests/web/module.mjs build-web/site $(BUILD)/wavemem
	@node --experimental-websocket tests/web/page.mjs build-web/site || [ $$? = 77 ]

check:
	@dev/check

clean:
	@rm -rf $(BUILD)

.PHONY: all demo test test-all bench install dist deb test-packages web test-web check clean
