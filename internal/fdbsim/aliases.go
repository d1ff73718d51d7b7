package fdbsim

import (
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/locked"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/serverargs"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/tools"
)

// Parts and options of [Simulation].
type (
	// Options are the fixed properties of [Simulation].
	Options = locked.Options
	// Faults are the ways in which a database can be made difficult.
	Faults = model.Faults
	// Server is an fdbserver to start.
	Server = locked.Server
	// ServerHandle is a running (or ended) server.
	ServerHandle = locked.ServerHandle
	// Database is a handle on one database for those who arrange and judge a simulation.
	Database = locked.Database
	// BackupTruth is the last backup of a tag, as it is.
	BackupTruth = locked.BackupTruth
	// BlobStore is a store that backups can go to by blobstore:// URLs.
	BlobStore = store.BlobStore
	// Tool is one run of a command-line tool.
	Tool = tools.Tool
	// FileSystem is the files that a tool sees.
	FileSystem = tools.FileSystem
	// Agent is a running backup_agent.
	Agent = tools.Agent
	// ClientTransaction is a transaction of a program with FoundationDB's client library.
	ClientTransaction = tools.ClientTransaction
	// ClientError is an error of the client library.
	ClientError = model.ClientError
	// KeyRange is a range of keys, without its end.
	KeyRange = keyspace.Range
)

// Exit codes of programs that did not end by themselves.
const (
	// ExitTimeout is that of a tool that timeout ended.
	ExitTimeout = 124
	// ExitKilled is that of a tool or server that SIGKILL ended.
	ExitKilled = model.ExitKilled
)

// ContainerURL is a backup's URL as [Database.Containers] has it.
func ContainerURL(url string) string { return locked.ContainerURL(url) }

// ParseServerArgs reads the argument vector of an fdbserver, argv[0] first.
func ParseServerArgs(argv []string) (serverargs.Args, error) { return locked.ParseServerArgs(argv) }
