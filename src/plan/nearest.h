// ORDER BY v ANN OF x: rows by how alike their vectors are to one, the most alike first.
#pragma once

#include <memory>

#include "plan/similarity.h"
#include "plan/term.h"

namespace sibyl::plan {

struct Select;

struct Nearest {
  const schema::Column* column = nullptr;  // both of the statement's table
  const schema::Index* index = nullptr;
  Similarity similarity = Similarity::cosine;
  TermPtr vector;
  int input = 0;  // the column's, among the selection's

  static constexpr int max_limit = 1000;
};

// nullptr when the statement does not order so.
base::Result<std::unique_ptr<Nearest>> bind_nearest(Binder& binder, const schema::Table& table,
                                                    const cql::Select& select);
// Refuses comparing columns that have an index on vectors: with one, only the order by likeness is asked for.
base::Status check_vector_relations(const schema::Table& table, const cql::Select& select, bool is_nearest);
// What may not stand beside it. REQUIRES: plan.nearest; restrictions and selection are bound, the former as
// if filtering was allowed.
base::Status check_nearest(const Select& plan, const cql::Select& select);

}  // namespace sibyl::plan
