# Thin shortcuts; CMake with its presets does the work.
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: all demo check install clean help

all:
	cmake --preset release
	cmake --build --preset release

demo:
	scripts/install-deps
	cmake --preset release
	cmake --build --preset release --target tilewright
	build/bin/tilewright model get base
	build/bin/tilewright demo -m base tests/data/jfk.wav

check:
	scripts/install-deps
	$(MAKE) all
	ctest --preset release

install: all
	DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"

clean:
	rm -rf build

help:
	@echo "make          build everything into build/bin/"
	@echo "make demo     install what is missing, build, get a model, and turn a clip into text on the NPU and on the CPU"
	@echo "make check    install what is missing, build, and run all tests"
	@echo "make install  install under PREFIX ($(PREFIX)), below DESTDIR if that is set"
	@echo "make clean    remove build/"
