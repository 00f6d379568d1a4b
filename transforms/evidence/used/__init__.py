"""`used/2`, and `used/1`: answers that rely on a memory in other words.

`reference` says plainly what the compiled loops must equal to the last bit; coefficients are fitted once per version.
"""
