"""`python -m benchmarks.child '["module", "function", {settings}]'`: one turn of one contender."""

import importlib
import json
import sys


def main() -> None:
    module, name, settings = json.loads(sys.argv[1])
    print(json.dumps(getattr(importlib.import_module(module), name)(**settings)))


if __name__ == "__main__":
    main()
