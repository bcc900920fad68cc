"""Bar charts published as pictures, read by machine and checked against their own bars.

`apart.py` is the way in: it starts a process of its own (`python -m gpuledger.extract.charts`), since the models weigh a
gigabyte while they read and a broken picture may take that process down. `outcome.py` is what comes back. The rest runs
over there and needs the packages of `gpuledger[charts]`.
"""
