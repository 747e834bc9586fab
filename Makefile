# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Targets for developers and administrators. The kernel's build system reads Kbuild, not this file.

VERSION := 0.1.0

RUNNING_KDIR := /lib/modules/$(shell uname -r)/build
KDIR ?= $(if $(wildcard $(RUNNING_KDIR)/Makefile),$(RUNNING_KDIR))
CASES ?=
SHELL := /bin/bash
scripts := $(CURDIR)/scripts
testing := $(CURDIR)/tools/testing

# Arguments for the kernel's build: those of these variables that are set on the command line of
# make.
kbuild_args := $(foreach v,ARCH CROSS_COMPILE LLVM CC W C V KWARP_SIW,$(if $(filter command,$(origin $(v))),$(v)="$($(v))"))

# A variable that these targets do not read is a misspelt one, and they would run for an hour.
known := KDIR KERNEL CASES STEPS GUEST OUT ROUNDS KWARP_%
unknown := $(strip $(filter-out $(known) -*-%,$(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $(v))),$(v)))))
ifneq ($(filter check check-all e2e e2e-debug bench,$(MAKECMDGOALS)),)
$(if $(unknown),$(error these targets read no variable $(unknown): make without arguments lists those that they read))
endif

.PHONY: help
help: ## list the targets
	@echo 'kwarp $(VERSION): a software iWARP RNIC'
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: ## from a fresh machine to RDMA traffic in a virtual machine, with figures
	@$(testing)/demo/demo.sh

.PHONY: module
module: ## build kwarp.ko: KDIR=<kernel build dir> [ARCH= CROSS_COMPILE= W=1 C=2 KWARP_SIW=n]
	@if [ -z "$(KDIR)" ]; then \
		echo 'error: the running kernel has no build directory at $(RUNNING_KDIR).' >&2; \
		echo 'Install its headers, or give one: make module KDIR=<kernel build dir>' >&2; \
		echo '(scripts/get-kernel.sh 6.12 fetches a stock Debian one and prints its path).' >&2; \
		exit 1; fi
	@$(scripts)/build-module.sh "$(KDIR)" $(kbuild_args)

.PHONY: provider
provider: ## build the libibverbs provider: RDMA_CORE=<rdma-core source tree>
	@if [ -z "$(RDMA_CORE)" ]; then \
		echo 'error: give the source tree of the exact rdma-core the provider is for: make provider RDMA_CORE=<tree>' >&2; \
		echo "(scripts/get-source.sh rdma-core fetches the test guest's and prints its path)." >&2; \
		exit 1; fi
	@$(scripts)/build-provider.sh "$(RDMA_CORE)"

.PHONY: check
check: ## all tests that CI runs; ends with "N passed, N failed, N skipped" [STEPS='lint kunit ...']
	@$(scripts)/check.sh $(STEPS)

.PHONY: check-all
check-all: ## make check, and tests that take longer: other kernels, data races, mutants, soak
	@$(scripts)/check-all.sh

.PHONY: selftest
selftest: ## tests of the test tools: given a fault, each must report a failure
	@$(scripts)/selftest.sh

.PHONY: mutate
mutate: ## break functions of the conformance tables, see that their tests fail [ROWS=40 SEED=]
	@$(scripts)/mutate.py $(if $(ROWS),--rows $(ROWS)) $(if $(SEED),--seed $(SEED))

.PHONY: lint
lint: ## static checks: checkpatch, sparse, W=1, layers, kernel-doc, names and more
	@$(scripts)/lint.sh

.PHONY: docs
docs: ## make a book of Documentation/, HTML in build/docs/html
	@$(scripts)/docs.sh

.PHONY: kunit
kunit: ## KUnit suites of all layers, in user-mode Linux
	@$(scripts)/kunit.sh

.PHONY: coverage
coverage: ## lines and branches that the unit tests reach
	@$(scripts)/kunit.sh --coverage

.PHONY: kunit-be
kunit-be: ## the suites of the protocol layer on an emulated big-endian machine
	@$(scripts)/kunit.sh --big-endian

.PHONY: fuzz
fuzz: ## the protocol layer under libFuzzer [FUZZ_SECONDS=60]
	@$(testing)/fuzz/fuzz.sh $(FUZZ_SECONDS)

.PHONY: provider-test
provider-test: ## unit test of the provider's queues, in this machine's user space
	@$(scripts)/provider-test.sh

.PHONY: install-test
install-test: ## make install and make uninstall in chroots of Debian 12 and 13
	@$(scripts)/debian/install-test.sh

.PHONY: packages
packages: ## build Debian packages in chroots, to build/packages [SUITES='bookworm trixie sid']
	@$(scripts)/debian/build-packages.sh $(SUITES)

.PHONY: package-test
package-test: ## install, upgrade and remove the packages in chroots of Debian 12, 13, sid [SUITES=]
	@$(scripts)/debian/package-test.sh $(SUITES)

.PHONY: secure-boot
secure-boot: ## load the packages' module with Secure Boot, before and after its key is enrolled
	@$(testing)/secure-boot/secure-boot.sh

.PHONY: e2e
e2e: ## end-to-end suite on a stock kernel in QEMU [CASES='name ...' KERNEL=6.12]
	@$(testing)/selftests/e2e.sh $(if $(KERNEL),--kernel $(KERNEL)) $(CASES)

.PHONY: e2e-debug
e2e-debug: ## end-to-end suite on a debug kernel: KASAN, lockdep, kmemleak, UBSAN [CASES=]
	@$(testing)/selftests/e2e.sh --kernel debug $(CASES)

.PHONY: e2e-arm64
e2e-arm64: ## end-to-end suite on an emulated arm64 machine [CASES=]
	@$(testing)/selftests/e2e.sh --kernel 6.12-arm64 $(CASES)

.PHONY: kernel-table
kernel-table: ## update Documentation/kernels.rst with the records of runs on this machine
	@$(scripts)/kernels.py

.PHONY: soak
soak: ## mixed traffic for hours, with packet loss and disturbances [SECONDS=7200 KERNEL=6.12]
	@$(testing)/selftests/soak.sh $(if $(KERNEL),--kernel $(KERNEL)) $(SECONDS)

.PHONY: bench
bench: ## measure kwarp, siw, rxe and TCP in turn, make a report [GUEST=uml-up OUT=dir ROUNDS=5]
	@$(testing)/bench/bench.sh $(foreach g,$(GUEST),--guest $(g)) $(if $(OUT),--out $(OUT)) -- $(if $(ROUNDS),--rounds $(ROUNDS))

.PHONY: install
install: ## install on this machine, as root: DKMS module, provider, tools [PROVIDER=no RDMA_CORE=<tree>]
	@RDMA_CORE="$(RDMA_CORE)" PROVIDER="$(PROVIDER)" $(scripts)/install.sh

.PHONY: uninstall
uninstall: ## remove what make install has installed (as root)
	@$(scripts)/uninstall.sh

.PHONY: clean-cache
clean-cache: ## remove the cache of downloads, kernels and guests (~/.cache/kwarp, KWARP_CACHE)
	@$(scripts)/clean-cache.sh

.PHONY: clean
clean: ## remove what was built here, not the cache
	@rm -rf build
	@find drivers rdma-core-provider tools \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' \
		-o -name '.*.cmd' -o -name modules.order -o -name Module.symvers \) -type f -delete 2>/dev/null || true
