# SPDX-License-Identifier: Apache-2.0
"""conftest.py: the client as the source tree has it, and its fixture; POSENCD names the daemon."""

import os
import pathlib
import sys

WEB = pathlib.Path(__file__).parents[2] / "server" / "web"
sys.path.insert(0, str(WEB))
os.environ.pop("POSENC_URL", None)
os.environ["POSENC_BINARY"] = os.environ["POSENCD"]
os.environ["PYTHONPATH"] = str(WEB)  # of programs started here

pytest_plugins = ["posenc"]
