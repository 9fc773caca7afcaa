package arrowfile

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Answer is what one query got at one point: rows best first with the scores that the engine gave, the time that the
// answer took, and the error if it failed.
type Answer struct {
	IDs         []int64
	Scores      []float32
	Depth       int32 // how many rows the engine was asked for in the end
	Nanoseconds int64
	Stages      []int64 // nanoseconds, in the order of the stage names that travel beside the file
	Error       string
	TimedOut    bool      // Error is that the query took too long
	Lists       [][]int64 // of a hybrid: the rows that each part found, best first; nil for a single engine
}

var answerSchema = arrow.NewSchema([]arrow.Field{
	{Name: "ids", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "scores", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32)},
	{Name: "depth", Type: arrow.PrimitiveTypes.Int32},
	{Name: "nanoseconds", Type: arrow.PrimitiveTypes.Int64},
	{Name: "stages", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "error", Type: arrow.BinaryTypes.String},
	{Name: "timed_out", Type: arrow.FixedWidthTypes.Boolean},
	{Name: "lists", Type: arrow.ListOfNonNullable(arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64))},
}, nil)

// WriteAnswers writes one point's answers, one row a query in query order.
func WriteAnswers(path string, answers []Answer) error {
	w, err := create(path, answerSchema)
	if err != nil {
		return err
	}
	for _, a := range answers {
		b := w.builder
		appendList(b.Field(0).(*array.ListBuilder), a.IDs, (*array.Int64Builder).AppendValues)
		appendList(b.Field(1).(*array.ListBuilder), a.Scores, (*array.Float32Builder).AppendValues)
		b.Field(2).(*array.Int32Builder).Append(a.Depth)
		b.Field(3).(*array.Int64Builder).Append(a.Nanoseconds)
		appendList(b.Field(4).(*array.ListBuilder), a.Stages, (*array.Int64Builder).AppendValues)
		b.Field(5).(*array.StringBuilder).Append(a.Error)
		b.Field(6).(*array.BooleanBuilder).Append(a.TimedOut)
		lists := b.Field(7).(*array.ListBuilder)
		lists.Append(true)
		for _, ids := range a.Lists {
			appendList(lists.ValueBuilder().(*array.ListBuilder), ids, (*array.Int64Builder).AppendValues)
		}
		if err := w.appended(); err != nil {
			return errors.Join(err, w.f.Close())
		}
	}
	return w.Close()
}

func appendList[V any, B array.Builder](list *array.ListBuilder, values []V, appendValues func(B, []V, []bool)) {
	list.Append(true)
	appendValues(list.ValueBuilder().(B), values, nil)
}

// ReadAnswers reads what WriteAnswers wrote.
func ReadAnswers(path string) ([]Answer, error) {
	var answers []Answer
	for rec, err := range records(path, answerSchema) {
		if err == nil {
			err = guarded(path, func() error { return appendAnswers(&answers, rec) })
		}
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
}

func appendAnswers(answers *[]Answer, rec arrow.Record) error {
	ids, scores, stages := rec.Column(0).(*array.List), rec.Column(1).(*array.List), rec.Column(4).(*array.List)
	depth, took, failed := rec.Column(2).(*array.Int32), rec.Column(3).(*array.Int64), rec.Column(5).(*array.String)
	late, lists := rec.Column(6).(*array.Boolean), rec.Column(7).(*array.List)
	inner := lists.ListValues().(*array.List)
	for i := range int(rec.NumRows()) {
		a := Answer{Depth: depth.Value(i), Nanoseconds: took.Value(i), Error: string([]byte(failed.Value(i))), TimedOut: late.Value(i)}
		from, to := ids.ValueOffsets(i)
		a.IDs = append(a.IDs, ids.ListValues().(*array.Int64).Int64Values()[from:to]...)
		from, to = scores.ValueOffsets(i)
		a.Scores = append(a.Scores, scores.ListValues().(*array.Float32).Float32Values()[from:to]...)
		from, to = stages.ValueOffsets(i)
		a.Stages = append(a.Stages, stages.ListValues().(*array.Int64).Int64Values()[from:to]...)
		from, to = lists.ValueOffsets(i)
		for l := from; l < to; l++ {
			first, last := inner.ValueOffsets(int(l))
			a.Lists = append(a.Lists, append([]int64{}, inner.ListValues().(*array.Int64).Int64Values()[first:last]...))
		}
		if len(a.IDs) != len(a.Scores) {
			return fmt.Errorf("query %d has %d ids and %d scores", len(*answers), len(a.IDs), len(a.Scores))
		}
		*answers = append(*answers, a)
	}
	return nil
}
