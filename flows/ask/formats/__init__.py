"""Forms of an answer that are more than rows of text: a table for a terminal or a page, a workbook."""
