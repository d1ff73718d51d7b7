// Package backups holds the commands for backups and restores.
package backups
