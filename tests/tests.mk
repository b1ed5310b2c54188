# SPDX-License-Identifier: Apache-2.0
# tests.mk: what the Makefile builds and runs of tests, checks, fuzzing, benchmarks and lint. It uses
# the Makefile's variables and is of no use without it.

# ---- Tests: one Criterion program per source file, tests/<layer>/test_X.c ----------------------
# tests/e2e starts the daemon and speaks HTTP to it; POSENCD names another daemon than our own.
UNITS   := $(foreach l,$(LAYERS) main,$(wildcard tests/$(l)/test_*.c))
E2ES    := $(wildcard tests/e2e/test_*.c)
INC_e2e   := $(INC_json)
LINK_e2e  := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(E2ES),$(wildcard tests/e2e/*.c))) $(LINK_json)
LIBS_e2e  := $(shell pkg-config --libs libcurl 2>/dev/null)
POSENCD   ?= $(BUILD)/posencd

programs = $(patsubst tests/%.c,$(BUILD)/tests/%,$(if $(T),$(filter $(T:%=tests/%.c),$(1)),$(1)))

define testprogram
$(BUILD)/tests/$(1)/%: tests/$(1)/%.c $(LINK_$(1)) Makefile
	@mkdir -p $$(@D)
	$(CC) $(CFLAGS) -Wno-missing-prototypes $(INC_$(1)) $(call folders,core) -Itests -MMD -MP -MT $$@ \
	    -MF $$@.d $(LDFLAGS) -o $$@ $$< $(LINK_$(1)) -lcriterion $(LIBS_$(1)) $$(LIBS)
endef
$(foreach l,$(LAYERS) main e2e,$(eval $(call testprogram,$(l))))

$(BUILD)/tests/e2e/%.o: tests/e2e/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(INC_e2e) -Itests -MMD -MP -c -o $@ $<

$(if $(T),$(if $(wildcard $(T:%=tests/%.c) $(T:%=tests/%.mjs)),,$(error there is no tests/$(T).c)))
tests: $(call programs,$(UNITS) $(E2ES))
unit: $(call programs,$(UNITS)) ## run the unit tests (T=core/test_cis for one)
	@tests/run.sh $^
e2e: $(call programs,$(E2ES)) $(POSENCD) ## run the end-to-end tests against the daemon
	@mkdir -p $(BUILD) && : >$(BUILD)/answers.jsonl
	@POSENCD=$(abspath $(POSENCD)) POSENC_ANSWERS=$(abspath $(BUILD))/answers.jsonl \
	    tests/run.sh $(call programs,$(E2ES))
	@/usr/bin/python3 tests/e2e/contract.py $(BUILD)/answers.jsonl $(if $(T),--some)
	@$(if $(T),,/usr/bin/python3 tests/e2e/formats.py $(abspath $(POSENCD)))
	@$(if $(T),,/usr/bin/python3 tests/e2e/pictures.py $(abspath $(POSENCD)))
	@$(if $(T),,POSENCD=$(abspath $(POSENCD)) tests/clients/run.sh)
# The page in a browser: its driver comes from the npm registry, exactly what the lock file says.
# T=browser/test_page runs one program.
BROWSER := build/browser
$(BROWSER)/node_modules/.package-lock.json: $(addprefix tests/browser/,package.json package-lock.json)
	@mkdir -p $(BROWSER) && cp $^ $(BROWSER)
	@npm ci --prefix $(BROWSER) --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@
browser: ## run the tests of the page in Debian's chromium
	@deploy/deps.sh build browser
	@$(MAKE) --no-print-directory --silent all $(BROWSER)/node_modules/.package-lock.json
	@POSENCD=$(abspath $(POSENCD)) BROWSER_PACKAGES=$(abspath $(BROWSER)) node --test \
	    --test-reporter spec $(or $(filter tests/browser/%,$(T:%=tests/%.mjs)),$(sort $(wildcard tests/browser/test_*.mjs)))
browser-record: ## measure the page in a browser: tests/bench/RESULTS.md
	@RECORD=tests/bench/RESULTS.md $(MAKE) --no-print-directory --silent T=browser/test_speed browser
screenshots: ## write deploy/screenshots anew: pictures of every view of the page
	@deploy/deps.sh build browser screenshots
	@$(MAKE) --no-print-directory --silent all $(BROWSER)/node_modules/.package-lock.json
	@POSENCD=$(abspath $(POSENCD)) BROWSER_PACKAGES=$(abspath $(BROWSER)) \
	    node tests/browser/screenshots.mjs deploy/screenshots
golden: all ## ask the service for every case of tests/golden, compare with what libraries gave; identify it
	@tests/golden/check tests/golden $(POSENCD)
	@tests/golden/identify tests/golden $(POSENCD)
check: all ## check the house rules: layers, symbols, headers, tables, style, hardening
	@tests/checks/layers.sh
	@tests/checks/style.sh
	@tests/checks/headers.sh "$(CC)" "$(CXX)" $(foreach l,$(LAYERS) main,"$(l):$(INC_$(l)) $(CPPFLAGS)")
	@$(if $(SAN)$(filter coverage,$(MODE)),,tests/checks/symbols.sh $(BUILD)/libposenc.a $(BUILD)/libposenc.so)
	@$(if $(SAN)$(filter-out release,$(MODE)),,tests/checks/hardening.sh $(BUILD)/posencd $(LINK_api))
	@tests/checks/tables.sh
	@node tests/checks/texts.mjs
	@$(BUILD)/posencd --eval /openapi.json | tests/checks/openapi.py proto/openapi.json
	@tests/checks/systemd.sh

openapi: all ## write proto/openapi.json anew: the document as the daemon serves it
	@$(BUILD)/posencd --eval /openapi.json | tests/checks/openapi.py proto/openapi.json --write

# Builds of another kind stand beside the default one, or beside a given BUILD.
OTHER   := $(if $(filter file,$(origin BUILD)),build/,$(BUILD)-)
another  = $(MAKE) --no-print-directory CC=$(1) MODE=$(2) BUILD=$(OTHER)$(1)-$(2)

tsan: all $(call programs,$(E2ES)) ## run the end-to-end tests against a daemon under ThreadSanitizer
	@$(MAKE) --no-print-directory --silent SAN=thread BUILD=$(OTHER)$(notdir $(CC))-thread all
	@tests/e2e/tsan.sh $(OTHER)$(notdir $(CC))-thread/posencd $(call programs,$(E2ES))
fixtures: all ## write proto/fixtures.sha256 anew: only together with a new semantics version
	@rm -rf $(BUILD)/fixtures && $(BUILD)/posencd --export-fixtures $(BUILD)/fixtures
	@cp $(BUILD)/fixtures/SHA256SUMS proto/fixtures.sha256 && sha256sum proto/fixtures.sha256
plots: all ## write tests/data/plots.sha256 anew: digests of pictures, after looking at them
	@tests/e2e/pictures.py $(BUILD)/posencd --write
digests: ## compare answers between instruction sets, worker counts, compilers and -O0/-O3
	+@$(foreach c,gcc clang,$(foreach m,release debug,$(call another,$(c),$(m)) --silent all &&)) true
	@tests/e2e/digests.sh $(foreach c,gcc clang,$(foreach m,release debug,$(OTHER)$(c)-$(m)/posencd))
	@set -e; for build in $(foreach c,gcc clang,$(foreach m,release debug,$(OTHER)$(c)-$(m))); do \
	    tests/e2e/pictures.py $$build/posencd; POSENC_ISA=scalar tests/e2e/pictures.py $$build/posencd; done

# ---- Fuzzing (libFuzzer) and benchmarks: programs that link everything -------------------------
INC_fuzz  := $(INC_api)
INC_bench := $(INC_api)
INC_exhaustive := $(INC_core)
FUZZ      := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
BENCH     := $(patsubst tests/bench/bench_%.c,%,$(wildcard tests/bench/bench_*.c))
define link_all
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wno-missing-prototypes $(INC_api) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(LINK_api) $(LIBS)
endef

$(BUILD)/tests/fuzz/fuzz_%: LDFLAGS += -fsanitize=fuzzer
$(BUILD)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(LINK_api) Makefile
	$(link_all)
$(BUILD)/tests/fuzz/replay_%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(LINK_api) Makefile
	$(link_all)
$(BUILD)/tests/bench/%: tests/bench/%.c tests/bench/bench.h tests/bench/bench_post.h $(LINK_api) Makefile
	$(link_all)

fuzz-programs: $(FUZZ:%=$(BUILD)/tests/fuzz/fuzz_%)
fuzz: ## fuzz each target for FUZZ_SECONDS under ASan and UBSan
	@deploy/deps.sh build clang
	@$(MAKE) --no-print-directory --silent CC=clang SAN=address,undefined,fuzzer-no-link \
	    BUILD=$(OTHER)clang-fuzz fuzz-programs
	@tests/fuzz/run.sh $(OTHER)clang-fuzz $(FUZZ_SECONDS) $(FUZZ)
replay: $(FUZZ:%=$(BUILD)/tests/fuzz/replay_%)
	@set -e; for f in $(FUZZ); do $(BUILD)/tests/fuzz/replay_$$f tests/fuzz/*/$$f; done
# The compiler's own charconv, which numbers are compared and measured with.
CHARCONV := $(BUILD)/tests/bench/charconv.o
$(CHARCONV): tests/bench/charconv.cpp tests/bench/charconv.h Makefile
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -c -o $@ $<
$(BUILD)/tests/bench/bench_numbers: $(CHARCONV)
$(BUILD)/tests/exhaustive/numbers: tests/exhaustive/numbers.c $(CHARCONV) $(LINK_core) Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(INC_core) $(LDFLAGS) -o $@ $< $(CHARCONV) $(LINK_core) $(CORE_LIBS)
$(BUILD)/tests/exhaustive/values: tests/core/test_exact.c $(LINK_core) Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Wno-missing-prototypes -DVALUES_MIN=100000000 $(INC_core) -Itests $(LDFLAGS) -o $@ \
	    $< $(LINK_core) -lcriterion $(LIBS)
numbers: $(BUILD)/tests/exhaustive/numbers
	@$(BUILD)/tests/exhaustive/numbers $(shell nproc) 1000000 500000
test-exhaustive: $(addprefix $(BUILD)/tests/exhaustive/,numbers values) ## every float as text, 10^8 cosines per dtype: an hour
	$(BUILD)/tests/exhaustive/numbers $(shell nproc)
	$(BUILD)/tests/exhaustive/values
counts: ## compare instructions per element of the hot paths (callgrind) with tests/bench/counts.txt
	+@$(counts)
counts-record: ## write tests/bench/counts.txt anew
	+@$(counts) --write
profile: ## where the time of a hot path goes (P='print f64'; without it: their names)
	+@deploy/deps.sh build counts && $(MAKE) --no-print-directory --silent $(BUILD)/tests/bench/counts
	@tests/bench/profile.sh $(BUILD)/tests/bench/counts "$(P)"
define counts
deploy/deps.sh build counts && $(MAKE) --no-print-directory --silent $(BUILD)/tests/bench/counts && \
    tests/bench/counts.py $(BUILD)/tests/bench/counts tests/bench/counts.txt
endef
bench-programs: $(BENCH:%=$(BUILD)/tests/bench/bench_%) $(BUILD)/tests/bench/bare_mhd
bench-deps: ## install what the daemon is measured against: nginx, FastAPI; and wrk
	@deploy/deps.sh bench
bench: all bench-programs ## measure every target: build/bench.json, tests/bench/RESULTS.md; ten minutes
	@tests/bench/run.sh $(BUILD)/posencd $(BUILD)/tests/bench/bare_mhd $(BENCH:%=$(BUILD)/tests/bench/bench_%)
coverage: ## lines and branches that the tests reach: a table, and build/gcc-coverage/index.html
	@deploy/deps.sh build test lint
	+@$(call another,gcc,coverage) --silent unit && $(call another,gcc,coverage) --silent e2e
	@gcovr --root . --filter 'server/' --object-directory $(OTHER)gcc-coverage \
	    --html-details $(OTHER)gcc-coverage/index.html --txt

# ---- Lint, format -------------------------------------------------------------------------------
HEADERS  := $(wildcard include/*.h include/*/*.h server/*/*.h server/*/*/*.h server/*.def server/*/*.def server/*/*/*.def tests/*/*.h tests/*.h)
FORMATTED:= $(shell find include server $(wildcard tests) -name '*.[ch]' -o -name '*.cpp')
# The tests proper are left to the compilers: clang-tidy takes minutes for Criterion's macros.
LINTED   := $(filter-out %.inc.c $(wildcard tests/*/test_*.c),$(filter server/%.c tests/%.c,$(FORMATTED)))
layer_of  = $(basename $(word 2,$(subst /, ,$(1))))

$(BUILD)/lint/%.ok: %.c .clang-tidy $(HEADERS)
	@mkdir -p $(@D)
	@clang-tidy --quiet --warnings-as-errors='*' $< -- -std=c11 -D_GNU_SOURCE -DPOSENCD_VERSION='""' \
	    $(CPPFLAGS) $(INC_$(call layer_of,$<)) $(FLAGS_$(basename $(<F))) $(call folders,core) -Itests >$@.log 2>&1 || { cat $@.log; exit 1; }
	@mv $@.log $@

tidy: $(LINTED:%.c=$(BUILD)/lint/%.ok)

lint: ## clang-format, clang-tidy and cppcheck, without a finding
	@deploy/deps.sh build test lint
	clang-format --dry-run -Werror $(FORMATTED)
	@$(MAKE) --no-print-directory --keep-going tidy
	tests/checks/cppcheck.sh $(CPPFLAGS)
format: ## lay out the sources with clang-format
	clang-format -i $(FORMATTED)
