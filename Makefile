# posencd: make run, make test; `make help` lists the rest.
# Variables: CC=gcc|clang, MODE=release|debug, OPT=-O3, SAN=address,undefined, T=core/test_cis.

CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
MODE    ?= release
SAN     ?=
PREFIX  ?= /usr/local
VERSION := 0.1.0

comma   := ,
empty   :=
space   := $(empty) $(empty)
BUILD   ?= build/$(notdir $(CC))-$(MODE)$(addprefix -,$(subst $(comma),-,$(SAN)))
CXX     := $(if $(findstring clang,$(CC)),$(subst clang,clang++,$(CC)),$(subst gcc,g++,$(CC)))
ARCH    := $(shell uname -m)

OPT     ?= $(if $(filter debug,$(MODE)),-O0 -g,-O3 -g)
WARN    := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
           -Wmissing-prototypes -Wvla -Wundef -Werror
HARDEN  := -fstack-protector-strong -fPIC $(if $(SAN)$(filter debug,$(MODE)),,-D_FORTIFY_SOURCE=2)
SANFLAG := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer $(if $(findstring undefined,$(SAN)),-fno-sanitize-recover=undefined))
CFLAGS  := -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) $(HARDEN) $(SANFLAG) -ffp-contract=off -pthread
CXXFLAGS:= -std=c++17 $(OPT) -Wall -Wextra -Werror $(HARDEN) $(SANFLAG) -ffp-contract=off \
           -fno-exceptions -fno-rtti
LDFLAGS := $(SANFLAG) -pthread -Wl,-z,relro,-z,now

# Layers: what each may include (style: nothing includes upward).
INC_core := -Iinclude
INC_base := -Iserver/base
INC_json := -Iinclude -Iserver/base -Iserver/json
INC_http := -Iserver/base -Iserver/http
INC_api  := -Iinclude -Iserver/base -Iserver/json -Iserver/http -Iserver/api
INC_main := $(INC_api) -Iserver

LAYERS  := core base json http api
CORE_C  := $(filter-out server/core/kernels.inc.c,$(wildcard server/core/*.c))
objs     = $(patsubst server/%.c,$(BUILD)/%.o,$(filter-out %.inc.c,$(wildcard server/$(1)/*.c)))
OBJ_core := $(call objs,core) $(patsubst server/%.cpp,$(BUILD)/%.o,$(wildcard server/core/*.cpp))
OBJ_base := $(call objs,base)
OBJ_json := $(call objs,json)
OBJ_http := $(call objs,http)
OBJ_api  := $(call objs,api) $(patsubst server/%.S,$(BUILD)/%.o,$(wildcard server/web/*.S))
OBJ_main := $(BUILD)/main.o $(BUILD)/config.o

# What a program of each layer links with.
NAME_core := posenc
archive   = $(BUILD)/lib$(or $(NAME_$(1)),$(1)).a
LINK_core := $(call archive,core)
LINK_base := $(call archive,base)
LINK_json := $(foreach l,json base core,$(call archive,$(l)))
LINK_http := $(foreach l,http base,$(call archive,$(l)))
LINK_api  := $(foreach l,api http json base core,$(call archive,$(l)))

STDCXX  := -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic
LIBS_core := $(STDCXX) -lmpfr -lgmp -lm
LIBS    := -lmicrohttpd -luv -ljansson $(LIBS_core)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all

all: $(BUILD)/posencd $(BUILD)/libposenc.a ## build the daemon (build/posencd) and the library
	@mkdir -p build && ln -sfn $(patsubst build/%,%,$(BUILD))/posencd build/posencd

$(BUILD)/posencd: $(OBJ_main) $(LINK_api)
	$(CC) $(LDFLAGS) -o $@ $(OBJ_main) $(LINK_api) $(LIBS)

define layer
$(call archive,$(1)): $$(OBJ_$(1))
	@rm -f $$@
	ar rcs $$@ $$^
$(BUILD)/$(1)/%.o: server/$(1)/%.c Makefile
	@mkdir -p $$(@D)
	$(CC) $(CFLAGS) $(INC_$(1)) $$(ISA_$$*) -MMD -MP -c -o $$@ $$<
endef
$(foreach l,$(LAYERS),$(eval $(call layer,$(l))))

# One kernel source per instruction set; flags on single objects only.
ifeq ($(ARCH),x86_64)
ISA_kernels_avx2   := -mavx2 -mfma -mf16c
ISA_kernels_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512
endif

$(BUILD)/core/%.o: server/core/%.cpp Makefile
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(INC_core) -MMD -MP -c -o $@ $<

$(BUILD)/web/%.o: server/web/%.S Makefile $(wildcard server/web/* proto/*.json)
	@mkdir -p $(@D)
	$(CC) -fPIC -I. -c -o $@ $<

$(BUILD)/%.o: server/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(INC_main) -DPOSENCD_VERSION='"$(VERSION)"' -MMD -MP -c -o $@ $<

# ---- Tests: one Criterion program per source file, tests/<layer>/test_X.c ----------------------
TESTS   := $(if $(T),$(addprefix tests/,$(addsuffix .c,$(T))),$(foreach l,$(LAYERS),$(wildcard tests/$(l)/test_*.c)))
TESTBIN := $(patsubst tests/%.c,$(BUILD)/tests/%,$(TESTS))


define testprogram
$(BUILD)/tests/$(1)/%: tests/$(1)/%.c $(LINK_$(1)) Makefile
	@mkdir -p $$(@D)
	$(CC) $(CFLAGS) -Wno-missing-prototypes $(INC_$(1)) -Iserver/core -Itests -MMD -MP $(LDFLAGS) \
	    -o $$@ $$< $(LINK_$(1)) -lcriterion $(LIBS)
endef
$(foreach l,$(LAYERS),$(eval $(call testprogram,$(l))))

.PHONY: unit
unit: $(TESTBIN) ## run the unit tests (T=core/test_cis for one)
	@set -e; for t in $(TESTBIN); do echo "== $$t"; $$t --quiet; done

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
