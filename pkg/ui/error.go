package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
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

// WriteJSON prints one document in one line, as streams of documents need it.
func WriteJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(layout.Raw(w))
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}

// WriteIndentedJSON prints one document on several lines.
func WriteIndentedJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(layout.Raw(w))
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}
