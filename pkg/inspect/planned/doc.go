// Package planned holds the plan as a document: its actions and holds, the differences between two plans, and
// plan files.
package planned
