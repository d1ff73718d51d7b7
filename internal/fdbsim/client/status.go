package client

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/status"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Status reads the status document.
func (c *Client) Status() (*fdb.Status, error) {
	c.Locate()
	reader := c.StatusReader()
	document, err := reader.Parsed()
	if err != nil {
		return nil, fmt.Errorf("read status: %w", err)
	}
	if err := c.Pause(reader.Delay()); err != nil {
		return nil, err
	}
	return document, nil
}

// StatusReader is the client as a reader of status documents.
func (c *Client) StatusReader() status.Client {
	return status.Client{Simulation: c.Simulation, Conn: c.Conn, Version: c.Release, Files: c.Files, Path: c.ClusterFile}
}
