// Package backup holds the stages of a pass over a FoundationDBBackup or a FoundationDBRestore.
package backup
