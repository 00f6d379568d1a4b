"""Charts: functions from a recipe's frame to a chart.

Colours and sizes are in `theme` alone.
"""
