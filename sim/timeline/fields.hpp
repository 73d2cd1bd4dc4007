// Field lists: what a result struct is made of, under which names, said once.
//
// `S::fields(s, visit)` hands every member of `s` to `visit`, in the order of its JSON. From these lists follow the
// JSON, the CSV and the journal of a point and how it is read back (report/field_record.hpp), the columns of its tables
// and the properties that tell points apart (report/field_table.hpp). A new column is a member, its line in the list,
// and where its value is worked out. `tests/timeline/fields_test.cpp` finds a member that its list lacks. A list says
//
//   visit(name, member, field)         a key and its value
//   visit.part(member, field)          a struct whose fields stand among these; of an optional one, all or none
//   visit.derived(name, value, field)  a key whose value follows from members: written, never read
//   visit.ends(name, low, high)        an interval that may lack both ends (no key) or the high one
//   visit.unwritten(member)            no key: it is for who works with the point
//   visit.settled(member, value)       no key: whatever is written has this value
//   visit.entry(name, value)           the only line of a struct that is a key with its value itself
//   visit.json_entry(name, text)       the same, of a value that is held as JSON text
#pragma once

namespace farandole { inline namespace timeline {

/// How a number of a table is printed.
enum class FigureUnit : char {
  plain,
  percent,
  hours,
  iteration  // the unit in which the table has its iterations; the heading names it
};

struct Field {
  // In a record
  bool stated = true;             // false: nothing to say, no key
  bool null_where_empty = false;  // an optional without a value is null instead of no key
  bool is_whole = true;           // a size that is a whole number of bytes is written as one
  bool in_rows = true;            // false: a list of structs, for which a row of CSV has no place

  // In tables: a property, which tells points apart, or a column of figures.
  int property = 0;              // its place among the properties; 0: it is none
  bool always_a_column = false;  // model and ranks: a table without them would look unfinished
  const char* usual = "";        // a property that nothing is said of where all points have this
  const char* column = nullptr;  // heading of a column of figures
  int decimals = 1;
  FigureUnit unit = FigureUnit::plain;
};

/// Specialised where a struct's list is one entry: a list of such structs is an object.
template <class T>
inline constexpr bool is_entry = false;

}}  // namespace farandole::timeline
