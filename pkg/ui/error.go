package ui

import (
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
)

// ErrorView is what a command that failed prints to stderr with -o json.
type ErrorView struct {
	inspect.Document
	// ExitCode is what the program ends with; docs/exit-codes.md explains it.
	ExitCode int    `json:"exitCode"`
	Message  string `json:"message"`
	// Hints are commands or sentences to try next.
	Hints []string `json:"hints"`
	// Differences are the changes of the cluster state since the plan was saved; only where
	// they are why the command ends.
	Differences []planned.PlanDifference `json:"differences,omitempty"`
}

// NewError makes the document of a failure.
func NewError(m inspect.Metadata, exitCode int, message string, hints []string) ErrorView {
	return ErrorView{Document: inspect.NewDocument("Error", m, time.Time{}, inspect.SourceLive), ExitCode: exitCode, Message: inspect.OneLine(message), Hints: inspect.OrEmpty(hints)}
}
