"""How an answer stands to the memories of its pool (`used/3`): shared stems, what is weighed of a pair, the fit."""
