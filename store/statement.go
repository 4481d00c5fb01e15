package store

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// statement is one operation as SQL. rows tells that it gives rows.
type statement struct {
	text   string
	values []any
	rows   bool
}

var insertForm = regexp.MustCompile(`(?is)^\s*(insert|replace)\b`)

func (s statement) inserts() bool { return insertForm.MatchString(s.text) }

// operationInput is the input of every operation, each with the fields that it knows.
type operationInput struct {
	Operation string                     `json:"operation"` // within a transaction
	Text      *string                    `json:"text"`
	Values    json.RawMessage            `json:"values"` // a list beside text, an object for insert
	Table     string                     `json:"table"`
	Columns   []string                   `json:"columns"`
	Set       map[string]json.RawMessage `json:"set"`
	Where     map[string]json.RawMessage `json:"where"`
	OrderBy   string                     `json:"orderBy"`
	Limit     *int                       `json:"limit"`
	Offset    *int                       `json:"offset"`
}

// operations reads what a script asks for; many tells that it is a transaction.
func operations(operation string, input json.RawMessage) (ops []statement, many bool, err error) {
	if operation != "transaction" {
		s, err := oneOperation(operation, input)
		return []statement{s}, false, err
	}
	var list []json.RawMessage
	if json.Unmarshal(input, &list) != nil {
		var named struct {
			Operations []json.RawMessage `json:"operations"`
		}
		if err := strict(input, &named); err != nil {
			return nil, true, err
		}
		list = named.Operations
	}
	if len(list) < 1 || len(list) > maxOperations {
		return nil, true, problem("INPUT_INVALID", "a transaction has 1 to %d operations, not %d", maxOperations, len(list))
	}
	for i, raw := range list {
		var head struct {
			Operation string `json:"operation"`
		}
		if err := json.Unmarshal(raw, &head); err != nil || head.Operation == "" || head.Operation == "transaction" {
			return nil, true, problem("INPUT_INVALID", "operation %d of the transaction: operation is one of query, execute, read, insert, update and delete", i+1)
		}
		s, err := oneOperation(head.Operation, raw)
		if err != nil {
			return nil, true, numbered(err, i)
		}
		ops = append(ops, s)
	}
	return ops, true, nil
}

func strict(raw json.RawMessage, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return problem("INPUT_INVALID", "an operation takes an object, not a %s", wrong.Value)
	case errors.As(err, &wrong):
		return problem("INPUT_INVALID", "the field %s must not be a %s", wrong.Field, wrong.Value)
	case err != nil:
		return problem("INPUT_INVALID", "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func oneOperation(operation string, raw json.RawMessage) (s statement, err error) {
	var in operationInput
	if err := strict(raw, &in); err != nil {
		return s, err
	}
	switch operation {
	case "query", "execute":
		s, err = in.sql()
	case "read":
		s, err = in.read()
	case "insert":
		s, err = in.insert()
	case "update":
		s, err = in.update()
	case "delete":
		s, err = in.remove()
	default:
		return s, problem("INPUT_INVALID", "there is no operation %q: it is one of query, execute, read, insert, update, delete and transaction", operation)
	}
	s.rows = operation == "query" || operation == "read"
	switch {
	case err != nil:
	case len(s.text) > maxSQL:
		err = problem("INPUT_INVALID", "the SQL has %d bytes; at most %d are taken", len(s.text), maxSQL)
	case names(s.text, marksTable):
		err = problem("TABLE_RESERVED", "the table %s belongs to faultlab: it holds which writes of the file were committed; leave it out of the statement", marksTable)
	}
	return s, err
}

func (in *operationInput) sql() (s statement, err error) {
	if in.Text == nil || strings.TrimSpace(*in.Text) == "" {
		return s, problem("INPUT_INVALID", "text, the SQL, is missing")
	}
	var list []json.RawMessage
	if in.Values != nil && json.Unmarshal(in.Values, &list) != nil {
		return s, problem("INPUT_INVALID", "values is no list")
	}
	s.text = *in.Text
	if err := oneStatement(s.text); err != nil {
		return s, err
	}
	for i, raw := range list {
		v, err := bindable(raw)
		if err != nil {
			return s, problem("INPUT_INVALID", "value %d: %s", i+1, err)
		}
		s.values = append(s.values, v)
	}
	return s, nil
}

func (in *operationInput) read() (s statement, err error) {
	columns := "*"
	if len(in.Columns) > 0 {
		quoted := make([]string, len(in.Columns))
		for i, c := range in.Columns {
			quoted[i] = quote(c)
		}
		columns = strings.Join(quoted, ", ")
	}
	s.text = "SELECT " + columns + " FROM " + quote(in.Table)
	if err := in.where(&s); err != nil {
		return s, err
	}
	if in.OrderBy != "" {
		s.text += " ORDER BY " + quote(in.OrderBy)
	}
	limit, offset := maxResultRows+1, 0
	if in.Limit != nil {
		limit = *in.Limit
	}
	if in.Offset != nil {
		offset = *in.Offset
	}
	if limit < 0 || offset < 0 {
		return s, problem("INPUT_INVALID", "limit and offset are not negative")
	}
	s.text += " LIMIT ? OFFSET ?"
	s.values = append(s.values, limit, offset)
	return s, in.tableMissing()
}

func (in *operationInput) insert() (s statement, err error) {
	var values map[string]json.RawMessage
	if json.Unmarshal(in.Values, &values) != nil || len(values) == 0 {
		return s, problem("INPUT_INVALID", "values is no object of columns")
	}
	names := slices.Sorted(maps.Keys(values))
	quoted, marks := make([]string, len(names)), make([]string, len(names))
	for i, n := range names {
		quoted[i], marks[i] = quote(n), "?"
		if err := s.bind(n, values[n]); err != nil {
			return s, err
		}
	}
	s.text = "INSERT INTO " + quote(in.Table) + " (" + strings.Join(quoted, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ")"
	return s, in.tableMissing()
}

func (in *operationInput) update() (s statement, err error) {
	if len(in.Set) == 0 {
		return s, problem("INPUT_INVALID", "set is no object of columns")
	}
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(in.Set)) {
		parts = append(parts, quote(n)+" = ?")
		if err := s.bind(n, in.Set[n]); err != nil {
			return s, err
		}
	}
	s.text = "UPDATE " + quote(in.Table) + " SET " + strings.Join(parts, ", ")
	if err := in.needWhere("update"); err != nil {
		return s, err
	}
	return s, in.where(&s)
}

func (in *operationInput) remove() (s statement, err error) {
	s.text = "DELETE FROM " + quote(in.Table)
	if err := in.needWhere("delete"); err != nil {
		return s, err
	}
	return s, in.where(&s)
}

func (in *operationInput) tableMissing() error {
	if in.Table == "" {
		return problem("INPUT_INVALID", "table is missing")
	}
	return nil
}

func (in *operationInput) needWhere(operation string) error {
	if len(in.Where) == 0 {
		return problem("INPUT_INVALID", "%s needs a where: without one it would change every row", operation)
	}
	return in.tableMissing()
}

func (in *operationInput) where(s *statement) error {
	for i, n := range slices.Sorted(maps.Keys(in.Where)) {
		word := " AND "
		if i == 0 {
			word = " WHERE "
		}
		if string(in.Where[n]) == "null" {
			s.text += word + quote(n) + " IS NULL"
			continue
		}
		s.text += word + quote(n) + " = ?"
		if err := s.bind(n, in.Where[n]); err != nil {
			return err
		}
	}
	return nil
}

func (s *statement) bind(name string, raw json.RawMessage) error {
	v, err := bindable(raw)
	if err != nil {
		return problem("INPUT_INVALID", "column %q: %s", name, err)
	}
	s.values = append(s.values, v)
	return nil
}

// bindable is a JSON value as SQLite takes it: booleans as 0 and 1, blobs from {bytesBase64}.
func bindable(raw json.RawMessage) (any, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil, string:
		return v, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case float64:
		switch {
		case v != math.Trunc(v):
			return v, nil
		case math.Abs(v) > maxSafe:
			return nil, fmt.Errorf("%s is not an integer that JavaScript holds exactly: send it as text", raw)
		}
		return int64(v), nil
	case map[string]any:
		if text, ok := v["bytesBase64"].(string); ok && len(v) == 1 {
			return base64.StdEncoding.DecodeString(text)
		}
	}
	return nil, errors.New("it is none of text, a number, a boolean, null and {bytesBase64}")
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
