"""The stages of one VM, in the order of `render.pipeline.order`."""
