"""Hooks of mkdocs.yml. The pages are written for the repository: they link manifests, tests and the pages
at its root. On the site README.md is the first page, and links to what the site does not have lead to the
repository. Files that are no pages and no images are left out. The generated pages of commands are in the
navigation without being listed in mkdocs.yml."""

import os
import posixpath
import re

from mkdocs.structure.files import File

LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
README = "README.md"
KEPT = (".md", ".svg", ".png")


def on_config(config):
    pages = sorted(name for name in os.listdir(posixpath.join(config["docs_dir"], "commands")) if name.endswith(".md"))
    title = lambda name: name.removesuffix(".md").replace("_", " ")
    config["nav"].append({"Command reference": [{title(name): "commands/" + name} for name in pages]})
    return config


def on_files(files, config):
    for file in list(files):
        if not file.abs_src_path.startswith(config["docs_dir"]):
            continue  # of the theme
        if not file.src_uri.endswith(KEPT) or file.src_uri.startswith("testdata/"):
            files.remove(file)
    root = posixpath.dirname(config["config_file_path"])
    files.append(File(README, root, config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri
    directory = "" if here == README else posixpath.join("docs", posixpath.dirname(here))

    def rewritten(match):
        before, target, after = match.groups()
        if re.match(r"[a-z][a-z0-9+.-]*:|/", target):
            return match.group(0)
        path = posixpath.normpath(posixpath.join(directory, target))  # in the repository
        uri = path[len("docs/"):] if path.startswith("docs/") else path
        on_site = (path.startswith("docs/") or path == README) and files.get_file_from_path(uri) is not None
        if on_site:
            return before + posixpath.relpath(uri, posixpath.dirname(here) or ".") + after
        kind = "blob" if posixpath.splitext(path)[1] or path in ("LICENSE", "Makefile") else "tree"
        return before + config["repo_url"].rstrip("/") + f"/{kind}/main/{path}" + after

    return LINK.sub(rewritten, markdown)
