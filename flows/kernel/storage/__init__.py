"""Where the files of a lake are: in a folder on a disk, or as objects in a bucket.

Who reads or writes a file of the lake asks `storage_of` its path; a bucket is mounted at a folder, which holds copies.
"""
