# posencd: make run, make test; `make help` lists the rest.
# Variables: CC=gcc|clang, MODE=release|debug|coverage, SAN=address,undefined, T=core/test_cis (one
# test program), ARGS='--listen 127.0.0.1:9000' (of make run), FUZZ_SECONDS, PREFIX, DESTDIR.

CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
MODE    ?= release
SAN     ?=
PREFIX  ?= /usr/local
VERSION := 0.1.0
REVISION ?= $(or $(shell git rev-parse --short=12 HEAD 2>/dev/null),unknown)
SONAME  := libposenc.so.0
FUZZ_SECONDS ?= 20

comma   := ,
BUILD   ?= build/$(notdir $(CC))-$(MODE)$(addprefix -,$(subst $(comma),-,$(SAN)))
CXX     := $(if $(findstring clang,$(CC)),$(subst clang,clang++,$(CC)),$(subst gcc,g++,$(CC)))
ARCH    := $(shell uname -m)
# All cores, unless make was given -j itself.
MAKEFLAGS += $(if $(filter 0,$(MAKELEVEL)),-j$(shell nproc 2>/dev/null || echo 2))

OPT     ?= $(if $(filter release,$(MODE)),-O3,-O0) -g $(if $(filter coverage,$(MODE)),--coverage -DCOVERAGE)
WARN    := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
           -Wmissing-prototypes -Wvla -Wundef -Werror
HARDEN_x86_64  := -fcf-protection -fstack-clash-protection
HARDEN_aarch64 := -mbranch-protection=standard
HARDEN  := -fstack-protector-strong -fPIC -fno-semantic-interposition $(HARDEN_$(ARCH)) \
           $(if $(SAN)$(filter-out release,$(MODE)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
SANFLAG := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer $(if $(findstring undefined,$(SAN)),-fno-sanitize-recover=undefined))
CPPFLAGS:= $(patsubst -I%,-isystem %,$(shell pkg-config --cflags libmicrohttpd libuv jansson mpfr libpng zlib 2>/dev/null))
CFLAGS  := -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) $(HARDEN) $(SANFLAG) -ffp-contract=off -pthread $(CPPFLAGS)
CXXFLAGS:= -std=c++17 $(OPT) -Wall -Wextra -Werror $(HARDEN) $(SANFLAG) -ffp-contract=off \
           -fno-exceptions -fno-rtti
BANNED  := -include server/base/banned.h
LDFLAGS := $(SANFLAG) $(filter --coverage,$(OPT)) -pthread -Wl,-z,relro,-z,now

# Layers: what each may include (style: nothing includes upward).
folders   = $(patsubst %/,-I%,$(wildcard server/$(1)/ server/$(1)/*/))
INC_core := -Iinclude $(call folders,core)
INC_base := $(call folders,base)
INC_json := -Iinclude $(INC_base) $(call folders,json)
INC_tensor := $(INC_json) $(call folders,tensor)
INC_http := $(INC_base) $(call folders,http)
INC_plot := $(INC_base) $(call folders,plot)
INC_api  := $(INC_tensor) $(call folders,http) $(call folders,plot) $(call folders,api) -Iserver/web
INC_main := $(INC_api) -Iserver
$(foreach f,$(wildcard server/*.c),$(eval INC_$(notdir $(f:.c=)) := $(INC_main)))

LAYERS  := core base json tensor http plot api
sources  = $(filter-out %.inc.c,$(wildcard $(addprefix server/$(1)/,*.c */*.c */*.cpp)))
objects  = $(patsubst server/%,$(BUILD)/%.o,$(basename $(call sources,$(1))))
OBJ_main := $(patsubst server/%.c,$(BUILD)/%.o,$(wildcard server/*.c))
OBJ_web  := $(patsubst server/%.S,$(BUILD)/%.o,$(wildcard server/web/*.S))
OBJ_font := $(BUILD)/plot/glyphs.o
$(foreach l,$(LAYERS),$(eval OBJ_$(l) := $(call objects,$(l)) $(if $(filter api,$(l)),$(OBJ_web)) $(if $(filter plot,$(l)),$(OBJ_font))))

# What a program of each layer links with.
NAME_core := posenc
archive   = $(BUILD)/lib$(or $(NAME_$(1)),$(1)).a
LINK_core := $(call archive,core)
LINK_base := $(call archive,base)
LINK_json := $(foreach l,json base core,$(call archive,$(l)))
LINK_tensor := $(foreach l,tensor json base core,$(call archive,$(l)))
LINK_http := $(foreach l,http base,$(call archive,$(l)))
LINK_plot := $(foreach l,plot base,$(call archive,$(l)))
LINK_api  := $(foreach l,api plot http tensor json base core,$(call archive,$(l)))
LINK_main := $(filter-out %/main.o,$(OBJ_main)) $(LINK_api)

STDCXX  := -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic
CORE_LIBS = $(STDCXX) $(shell pkg-config --libs mpfr 2>/dev/null) -lm
LIBS     = $(shell pkg-config --libs libmicrohttpd libuv jansson libpng zlib 2>/dev/null) $(CORE_LIBS)
LIBS_main = $(shell pkg-config --libs libseccomp 2>/dev/null)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: help deps run test all e2e golden check fuzz bench coverage lint format install docker clean \
        unit replay tsan fixtures openapi plots digests tidy fuzz-programs bench-programs bench-deps tests test-exhaustive \
        counts counts-record profile numbers browser browser-record screenshots

help: ## list the targets
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' Makefile tests/tests.mk
	@sed -n '2,3s/^# *//p' Makefile
deps: ## install what is missing to build and test (apt-get), or say what to install by hand
	@deploy/deps.sh build test $(if $(findstring clang,$(CC)),clang)
run: ## build the daemon and run it on 127.0.0.1:8080 (ARGS=...)
	@deploy/deps.sh build $(if $(findstring clang,$(CC)),clang)
	@echo "building $(BUILD)/posencd" && $(MAKE) --no-print-directory --silent all
	@exec $(BUILD)/posencd $(ARGS)
test: deps ## build, then run every test: unit, end to end, golden data, fuzz findings of old, house rules
	@echo "building $(BUILD)" && $(MAKE) --no-print-directory --silent all tests
	@set -e; for t in unit numbers e2e golden replay check; do $(MAKE) --no-print-directory --silent $$t; done
all: $(BUILD)/posencd $(BUILD)/libposenc.a $(BUILD)/libposenc.so ## build the daemon and the library
	@$(if $(filter build/gcc-release,$(BUILD)),ln -sfn gcc-release/posencd build/posencd)

$(BUILD)/posencd: $(OBJ_main) $(LINK_api)
	$(CC) $(LDFLAGS) -pie -o $@ $(OBJ_main) $(LINK_api) $(LIBS_main) $(LIBS)
$(BUILD)/libposenc.so: $(OBJ_core) deploy/libposenc.map
	$(CC) -shared $(LDFLAGS) -Wl,-soname,$(SONAME),--version-script=deploy/libposenc.map -o $@ \
	    $(OBJ_core) $(CORE_LIBS)

define layer
$(call archive,$(1)): $$(OBJ_$(1))
	@rm -f $$@
	ar rcs $$@ $$^
$(BUILD)/$(1)/%.o: server/$(1)/%.c Makefile
	@mkdir -p $$(@D)
	$(CC) $(CFLAGS) $(BANNED) $(INC_$(1)) $$(FLAGS_$$(notdir $$*)) -MMD -MP -c -o $$@ $$<
endef
$(foreach l,$(LAYERS),$(eval $(call layer,$(l))))

# Flags on single objects only: what is built for an instruction set; the commit that is built.
ifeq ($(ARCH),x86_64)
FLAGS_kernels_avx2   := -mavx2 -mfma -mf16c
FLAGS_kernels_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mf16c -mprefer-vector-width=512
FLAGS_sha256_ni      := -msha -msse4.1
endif
FLAGS_meta := -DPOSENCD_REVISION='"$(REVISION)"'
$(BUILD)/api/service/meta.o: $(wildcard .git/logs/HEAD)

$(BUILD)/core/%.o: server/core/%.cpp Makefile
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(INC_core) -MMD -MP -c -o $@ $<

# The font of pictures: a table that a program of the build makes of the outlines.
FONT    ?= /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
$(BUILD)/deploy/%: deploy/%.c Makefile
	@mkdir -p $(@D)
	$(CC) -std=c11 -O1 $(WARN) $$(pkg-config --cflags freetype2) -o $@ $< $$(pkg-config --libs freetype2)
$(BUILD)/plot/glyphs.c: $(BUILD)/deploy/glyphs
	@mkdir -p $(@D)
	$< $(FONT) >$@
$(BUILD)/plot/glyphs.o: $(BUILD)/plot/glyphs.c server/plot/glyphs.h
	$(CC) $(CFLAGS) $(INC_plot) -c -o $@ $<

# The library that the page draws lines with, as the lock file says, by its digest; fetched once.
UPLOT   := build/npm/node_modules/uplot/dist
$(UPLOT)/uPlot.iife.min.js $(UPLOT)/uPlot.min.css &: server/web/vendor/package-lock.json
	@rm -rf build/npm && mkdir -p build/npm && cp server/web/vendor/package*.json build/npm
	@cd build/npm && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $(UPLOT)/uPlot.*

$(BUILD)/web/%.o: server/web/%.S Makefile $(wildcard server/web/* server/web/*/*.js proto/*.json proto/*.sha256) \
        $(UPLOT)/uPlot.iife.min.js $(UPLOT)/uPlot.min.css
	@mkdir -p $(@D)
	$(CC) -fPIC -I. -Wa,-I. -Wa,-Iserver/web -Wa,-I$(UPLOT) -c -o $@ $<

$(BUILD)/%.o: server/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(BANNED) $(INC_main) -DPOSENCD_VERSION='"$(VERSION)"' -MMD -MP -c -o $@ $<

# An image is built without the tests.
-include tests/tests.mk

# ---- Installing ---------------------------------------------------------------------------------
AT = $(DESTDIR)$(PREFIX)
install: all ## install daemon, library, header, pkg-config file and clients (DESTDIR, PREFIX)
	install -D -m 755 $(BUILD)/posencd $(AT)/bin/posencd
	install -D -m 644 -t $(AT)/share/posencd $(addprefix server/web/,posenc.py posenc.js package.json)
	install -D -m 644 include/posenc.h $(AT)/include/posenc.h
	install -D -m 644 -t $(AT)/include/posenc include/posenc/*.h
	install -D -m 644 $(BUILD)/libposenc.a $(AT)/lib/libposenc.a
	install -D -m 755 $(BUILD)/libposenc.so $(AT)/lib/libposenc.so.$(VERSION)
	ln -sf libposenc.so.$(VERSION) $(AT)/lib/$(SONAME)
	ln -sf $(SONAME) $(AT)/lib/libposenc.so
	@mkdir -p $(AT)/lib/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' deploy/posenc.pc.in >$(AT)/lib/pkgconfig/posenc.pc

docker: $(UPLOT)/uPlot.iife.min.js ## build the container image posencd:VERSION
	docker build -t posencd:$(VERSION) --build-arg VERSION=$(VERSION) \
	    --build-arg REVISION=$(REVISION) .
clean: ## remove everything built
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
