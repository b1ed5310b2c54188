#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh: the tests of posenc.py and posenc.js against the daemon that POSENCD names. Python is the
# system's, whose modules deploy/deps.sh installs.
set -u
here=$(dirname "$0")
export PYTHONDONTWRITEBYTECODE=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
status=0
echo "== $here/*.py"
/usr/bin/python3 -m pytest -q -p no:cacheprovider --rootdir "$here" "$here" || status=1
echo "== $here/*.mjs"
node --test --test-reporter spec "$here/test_posenc.mjs" || status=1
exit $status
