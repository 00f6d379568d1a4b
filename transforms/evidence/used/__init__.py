"""`used/3`: answers that rely on a memory in other words.

`memories` is what others call; `ranking/` compares texts; coefficients are fitted once per version.
"""
