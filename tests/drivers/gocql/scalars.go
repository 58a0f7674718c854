package main

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"net"
	"reflect"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"gopkg.in/inf.v0"
)

const large = "10000000000000000000000000000000000000000"

type scalar struct {
	kind, literal string
	value         any
}

func number(text string) *big.Int {
	value, _ := new(big.Int).SetString(text, 10)
	return value
}

func decimal(text string) *inf.Dec {
	value, _ := new(inf.Dec).SetString(text)
	return value
}

func identifier(text string) gocql.UUID {
	value, err := gocql.ParseUUID(text)
	must(err)
	return value
}

func scalars() []scalar {
	return []scalar{
		{"ascii", "'plain ~'", "plain ~"}, {"ascii", "''", ""},
		{"bigint", "-9223372036854775808", int64(math.MinInt64)}, {"bigint", "9223372036854775807", int64(math.MaxInt64)},
		{"blob", "0x00ff", []byte{0, 255}}, {"blob", "0x", []byte{}},
		{"boolean", "true", true}, {"boolean", "false", false},
		{"date", "'1969-07-20'", time.Date(1969, 7, 20, 0, 0, 0, 0, time.UTC)},
		{"date", "'0001-01-02'", time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)}, // the day before is Go's zero, sent as no date
		{"date", "'9999-12-31'", time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)},
		{"decimal", "-123.4500", decimal("-123.4500")}, {"decimal", "0.00000000000000000001", decimal("0.00000000000000000001")},
		{"decimal", large + ".5", decimal(large + ".5")},
		{"double", "1.7976931348623157E308", math.MaxFloat64}, {"double", "4.9E-324", math.SmallestNonzeroFloat64},
		{"double", "NaN", math.NaN()}, {"double", "-Infinity", math.Inf(-1)},
		{"duration", "1y2mo3d4h5m6s7ns", gocql.Duration{Months: 14, Days: 3, Nanoseconds: 14_706_000_000_007}},
		{"duration", "-2mo1d1ns", gocql.Duration{Months: -2, Days: -1, Nanoseconds: -1}},
		{"float", "3.4028235E38", float32(math.MaxFloat32)}, {"float", "1.4E-45", float32(math.SmallestNonzeroFloat32)},
		{"float", "Infinity", float32(math.Inf(1))},
		{"inet", "'127.0.0.1'", net.ParseIP("127.0.0.1").To4()}, {"inet", "'2001:db8::1'", net.ParseIP("2001:db8::1")},
		{"int", "-2147483648", math.MinInt32}, {"int", "2147483647", math.MaxInt32},
		{"smallint", "-32768", int16(math.MinInt16)}, {"smallint", "32767", int16(math.MaxInt16)},
		{"text", "'žluťoučký 🐎'", "žluťoučký 🐎"}, {"text", "''", ""},
		{"time", "'00:00:00'", time.Duration(0)}, {"time", "'23:59:59.999999999'", 24*time.Hour - 1},
		{"timestamp", "0", time.UnixMilli(0).UTC()}, {"timestamp", "-1", time.UnixMilli(-1).UTC()},
		{"timestamp", "'9999-12-31 23:59:59.999Z'", time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC)},
		{"timeuuid", "50554d6e-29bb-11e5-b345-feff819cdc9f", identifier("50554d6e-29bb-11e5-b345-feff819cdc9f")},
		{"tinyint", "-128", int8(math.MinInt8)}, {"tinyint", "127", int8(math.MaxInt8)},
		{"uuid", "00000000-0000-0000-0000-000000000000", gocql.UUID{}},
		{"uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff", identifier("ffffffff-ffff-ffff-ffff-ffffffffffff")},
		{"varint", "-" + large, number("-" + large)}, {"varint", "0", number("0")}, {"varint", "128", number("128")},
		{"varint", "-129", number("-129")},
	}
}

// equal compares values whose Go representation is not unique.
func equal(expected, found any) bool {
	switch e := expected.(type) {
	case float64:
		return math.Float64bits(e) == math.Float64bits(found.(float64)) || (math.IsNaN(e) && math.IsNaN(found.(float64)))
	case []byte:
		return bytes.Equal(e, found.([]byte))
	case *big.Int:
		return e.Cmp(found.(*big.Int)) == 0
	case *inf.Dec:
		return e.Cmp(found.(*inf.Dec)) == 0 && e.Scale() == found.(*inf.Dec).Scale()
	case time.Time:
		return e.Equal(found.(time.Time))
	case net.IP:
		return e.Equal(found.(net.IP))
	}
	return reflect.DeepEqual(expected, found)
}

func bothWays(session *gocql.Session, s scalar) {
	column := "c_" + s.kind
	must(session.Query(fmt.Sprintf("INSERT INTO scalars (k, %s) VALUES ('literal', %s)", column, s.literal)).Exec())
	must(session.Query(fmt.Sprintf("INSERT INTO scalars (k, %s) VALUES (?, ?)", column), "bound", s.value).Exec())
	for _, key := range []string{"literal", "bound"} {
		into := reflect.New(reflect.TypeOf(s.value))
		must(session.Query(fmt.Sprintf("SELECT %s FROM scalars WHERE k = ?", column), key).Scan(into.Interface()))
		if found := into.Elem().Interface(); !equal(s.value, found) {
			panic(fmt.Sprintf("expected %v, found %v", s.value, found))
		}
	}
	if s.kind == "duration" { // has no order, nor a comparison
		return
	}
	var key string
	must(session.Query(fmt.Sprintf("SELECT k FROM scalars WHERE k = 'bound' AND %s = %s ALLOW FILTERING", column, s.literal)).Scan(&key))
	same("bound", key)
}
