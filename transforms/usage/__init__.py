"""How much a memory is used: strength, when it fades, need, trend.

Half-lives and needs are fitted on the log's own past; defaults stand where it says too little.
"""
