"""gpuledger: which GPU to buy or rent to run a model, at today's price.

The rooms `flows`, `extract`, `transform`, `warehouse` and `expectations` lie at the top of the repository; the links beside
this file give them the names that an installed program has (`gpuledger.flows` and so on), where nobody's own `flows` can
stand in their way.
"""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    # `python -m gpuledger` is looking for this package, and the current folder comes first in the path. A json.py that lies
    # there would be imported next.
    del sys.path[0]

#: Written here alone: the build, `gpuledger --version` and the record in a warehouse file take it from here.
__version__ = "1.0.0rc1"
