"""`python -m gpuledger`: the command line."""

from gpuledger.flows.cli import main

if __name__ == "__main__":
    main()
