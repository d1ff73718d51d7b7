// Package dashboard holds the command watch: the dashboard, its actions, recordings and their replay.
package dashboard
