// `tessera multiply --top K` and `--above X`: selected entries of the product; C is never written.
#pragma once

#include "inputs.hpp"
#include "matmul/row_selector.hpp"

namespace tessera::product {

/// Throws Error(argument) for options that do not go with a selection.
void check_selection(const MultiplyRequest& request);
detail::Selection selection_of(const MultiplyRequest& request);
/// "the 10 largest of each row"
std::string selection_text(const MultiplyRequest& request);
/// Writes them as SciPy's sparse .npz.
void write_selected(const MultiplyRequest& request, const SelectedEntries& entries);

/// Operands that are read as a whole.
int multiply_selected(const shell::Context& context, const MultiplyRequest& request);

}  // namespace tessera::product
