"""Pure transforms: frames in, frames out."""
