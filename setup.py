"""What is installed: `slowwave` is this folder, and each folder of modules in it is a package of that name."""

from setuptools import find_packages, setup

_FOLDERS = ("dashboards", "data", "flows", "transforms")

setup(
    script_name="setup.py",  # which does not belong to `slowwave`, though it lies in its folder
    packages=[
        "slowwave",
        *(f"slowwave.{name}" for name in find_packages(include=[*_FOLDERS, *(f"{folder}.*" for folder in _FOLDERS)])),
    ],
)
