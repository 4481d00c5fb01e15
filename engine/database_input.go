package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	"faultlab/engine/script"
)

// statementOptions are the members that the input of each operation of services.db may have.
var statementOptions = map[string][]string{
	"query":       {"text", "values"},
	"execute":     {"text", "values"},
	"read":        {"columns", "limit", "offset", "orderBy", "table", "where"},
	"insert":      {"table", "values"},
	"update":      {"set", "table", "where"},
	"delete":      {"table", "where"},
	"transaction": {"operations"},
}

// databaseOptions are the members of services.db's target.
var databaseOptions = []string{"connection", "driver", "markers"}

// checkStatement finds members that the target or the input of a call of services.db must not have. What else may be
// wrong with them is the Database's to say.
func checkStatement(c script.Call) error {
	if err := unknownIn("services.db", c.Target, databaseOptions); err != nil {
		return err
	}
	if err := unknownIn("services.db."+c.Operation, c.Input, statementOptions[c.Operation]); err != nil || c.Operation != "transaction" {
		return err
	}
	var list []json.RawMessage
	var named struct{ Operations []json.RawMessage }
	if json.Unmarshal(c.Input, &list) != nil && json.Unmarshal(c.Input, &named) == nil {
		list = named.Operations
	}
	for i, raw := range list {
		var head struct{ Operation string }
		if json.Unmarshal(raw, &head) != nil || statementOptions[head.Operation] == nil {
			continue
		}
		known := append(slices.Clone(statementOptions[head.Operation]), "operation")
		if err := unknownIn(fmt.Sprintf("operation %d of the transaction", i+1), raw, known); err != nil {
			return err
		}
	}
	return nil
}

// unknownIn finds a member of an object that is not among the known ones.
func unknownIn(what string, raw json.RawMessage, known []string) error {
	if len(raw) == 0 || raw[0] != '{' || known == nil {
		return nil
	}
	for name := range members(raw) {
		if !slices.Contains(known, name) {
			return &unknownOption{what, name, known}
		}
	}
	return nil
}
