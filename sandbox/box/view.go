package box

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// view assembles a root file system below its root directory.
type view struct{ root string }

// enter makes the view and makes it this process's root.
func enter(s Spec) error {
	v := view{root: s.Root}
	steps := []struct {
		what string
		do   func() error
	}{
		{"separating mounts", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		{"mounting the root", func() error { return unix.Mount("tmpfs", s.Root, "tmpfs", 0, "mode=0755") }},
		{"showing the machine's programs", func() error { return v.programs(s.ProgramsDir) }},
		{"making /etc", func() error { return v.etc(s.Hostname) }},
		{"showing devices and processes", v.kernel},
		{"making the image's files", func() error { return v.image(s) }},
		{"mounting volumes", func() error { return v.volumes(s) }},
		{"changing the root", func() error { return v.pivot(s) }},
		{"setting the hostname", func() error { return unix.Sethostname([]byte(s.Hostname)) }},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

func (v view) at(name string) string { return filepath.Join(v.root, path.Clean("/"+name)) }

// shown are the machine's directories that hold programs and libraries, on any distribution.
var shown = []string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix", "gnu", "opt"}

func (v view) programs(dir string) error {
	for _, name := range []string{"usr", "etc"} {
		if err := v.bind(Mount{Source: "/" + name, Target: HostRoot + "/" + name, ReadOnly: true}); err != nil {
			return err
		}
	}
	for _, name := range shown {
		if err := v.show(name); err != nil {
			return err
		}
	}
	return v.bind(Mount{Source: dir, Target: "/usr/bin", ReadOnly: true})
}

// show makes a directory of the machine's root visible; a link stays a link.
func (v view) show(name string) error {
	info, err := os.Lstat("/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return v.bind(Mount{Source: "/" + name, Target: name, ReadOnly: true})
	}
	target, err := os.Readlink("/" + name)
	if err != nil {
		return err
	}
	return os.Symlink(target, v.at(name))
}

// ownEtc are the files of /etc that a container has for itself.
var ownEtc = []string{"hosts", "hostname", "mtab", nameSources, resolver}

const (
	nameSources = "nsswitch.conf"
	resolver    = "resolv.conf"
)

// names are the files that configure where a container resolves names: in /etc/hosts alone, which
// has all names of the sandbox. The machine's resolver would be queried for every name that
// has vanished, continuously by every fdbserver process, and may drop queries.
var names = map[string]string{
	nameSources: "passwd: files\ngroup: files\nshadow: files\nhosts: files\nnetworks: files\nservices: files\nprotocols: files\n",
	resolver:    "# Names are in /etc/hosts; there is no server to ask.\noptions timeout:1 attempts:1\n",
}

// etc links the machine's configuration file by file, so that some can differ.
func (v view) etc(hostname string) error {
	if err := os.MkdirAll(v.at("etc"), 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir("/etc")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.Contains(ownEtc, e.Name()) {
			continue
		}
		if err := os.Symlink(HostRoot+"/etc/"+e.Name(), v.at("etc/"+e.Name())); err != nil {
			return err
		}
	}
	if err := os.Symlink(RunDir+"/hosts", v.at("etc/hosts")); err != nil {
		return err
	}
	for name, content := range names {
		if err := os.WriteFile(v.at("etc/"+name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(v.at("etc/hostname"), []byte(hostname+"\n"), 0o644)
}

func (v view) kernel() error {
	for _, name := range []string{"dev", "sys"} {
		if err := v.bind(Mount{Source: "/" + name, Target: name}); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(v.at("proc"), 0o555); err != nil {
		return err
	}
	err := unix.Mount("proc", v.at("proc"), "proc", 0, "")
	if errors.Is(err, unix.EPERM) { // parts of the machine's own /proc are hidden, so a new one is refused
		return v.bind(Mount{Source: "/proc", Target: "proc"})
	}
	return err
}

// emptyDirectories exist in every image.
var emptyDirectories = []string{"home", "root", "run", "srv", "var", "var/log", "var/lib"}

func (v view) image(s Spec) error {
	for _, dir := range slices.Concat(emptyDirectories, s.Directories) {
		if err := os.MkdirAll(v.at(dir), 0o755); err != nil {
			return err
		}
	}
	for _, dir := range []string{"tmp", "var/tmp"} {
		if err := os.MkdirAll(v.at(dir), 0o755); err != nil {
			return err
		}
		if err := os.Chmod(v.at(dir), 0o777|fs.ModeSticky); err != nil {
			return err
		}
	}
	for name, content := range s.Files {
		if err := os.MkdirAll(filepath.Dir(v.at(name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(v.at(name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (v view) volumes(s Spec) error {
	for _, m := range append([]Mount{{Source: s.RunDir, Target: RunDir, ReadOnly: true}}, s.Mounts...) {
		if err := v.bind(m); err != nil {
			return err
		}
	}
	return nil
}

// bind makes the source of a mount visible at its target, everything mounted below it included.
func (v view) bind(m Mount) error {
	if err := v.mountPoint(m.Source, m.Target); err != nil {
		return fmt.Errorf("create a mount point for %s: %w", m.Target, err)
	}
	if err := unix.Mount(m.Source, v.at(m.Target), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", m.Source, m.Target, err)
	}
	if !m.ReadOnly {
		return nil
	}
	attributes := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, v.at(m.Target), unix.AT_RECURSIVE, &attributes); err != nil {
		return fmt.Errorf("remount %s read-only: %w", m.Target, err)
	}
	return nil
}

func (v view) mountPoint(source, target string) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.MkdirAll(v.at(target), 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(v.at(target)), 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(v.at(target)); err == nil {
		return nil
	}
	return os.WriteFile(v.at(target), nil, 0o644)
}

// pivot makes the assembled tree the root and unmounts the machine's.
func (v view) pivot(s Spec) error {
	if err := os.Chdir(v.root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if !s.ReadOnlyRoot {
		return nil
	}
	return unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}
