// Package diagnose holds the commands that answer questions: why, can, check, wait and auth.
package diagnose
