"""What kernels of all families share: places of spans, tiles, streams, fp16 matrices, trees from charts."""
