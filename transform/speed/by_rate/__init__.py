"""Work that is bound by the matrix rate: training. Its speed is a share of that rate, as measured."""
