// Package box gives a container its own view of the machine: private mount,
// process, hostname and IPC namespaces with a root file system assembled from
// the machine's own programs, the image's programs and the pod's volumes.
//
// A box has an init process, a re-executed helper that makes the view and then
// starts programs in it on request. When the helper dies, every program in the
// box dies with it, and the helper dies with its parent. A box is a view, not
// a prison: it shares the network and the user with its surroundings.
package box

import "syscall"

// HelperName is the argv[0] under which the helper program runs a box's init.
const HelperName = "fdb-sandbox-init"

// RunDir is where a box finds what the sandbox gives it: its hosts file and
// the socket of its tools.
const RunDir = "/run/fdb-sandbox"

// AddressFile in RunDir holds the address of the container's pod.
const AddressFile = "address"

// HostRoot is where a box sees the machine's own /usr and /etc.
const HostRoot = "/.host"

// Spec is the view of one container.
type Spec struct {
	Root         string  // an empty directory to assemble the root file system on
	Hostname     string  // what the container calls itself
	ProgramsDir  string  // becomes /usr/bin
	RunDir       string  // becomes RunDir
	Mounts       []Mount // in this order
	Directories  []string
	Files        map[string]string // small files of the image: path to content
	ReadOnlyRoot bool
}

// Mount makes a directory or a file of the machine appear in the box.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// request is what the host asks of the helper; the first carries the Spec.
type request struct {
	ID     int
	Spec   *Spec          `json:",omitempty"`
	Start  *command       `json:",omitempty"`
	Signal syscall.Signal `json:",omitempty"`
	Target int            `json:",omitempty"` // the request that started the process to signal
}

// command is a program to start; its streams travel beside it as descriptors 0, 1 and 2.
type command struct {
	Argv, Env []string
	Dir       string
	Terminal  bool
}

// reply answers one request. A started process replies twice: once when it
// runs and once when it ended.
type reply struct {
	ID     int
	PID    int    `json:",omitempty"`
	Error  string `json:",omitempty"`
	Ended  bool   `json:",omitempty"`
	Code   int    `json:",omitempty"`
	Signal int    `json:",omitempty"`
}

// maxMessage bounds one message between host and helper.
const maxMessage = 1 << 20
