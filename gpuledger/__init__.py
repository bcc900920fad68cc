"""gpuledger: which GPU to buy or rent to run a model, at today's price.

The rooms `flows`, `extract`, `transform`, `warehouse` and `expectations` lie at the top of the repository; the links beside
this file give them the names that an installed program has (`gpuledger.flows` and so on), where nobody's own `flows` can
stand in their way.
"""

#: Written here alone: the build, `gpuledger --version` and the record of a migration take it from here.
__version__ = "0.1.0"
