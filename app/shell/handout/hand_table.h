#pragma once

#include "app/shell/handout/handout_maps.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// A table that is filled in by hand.
struct HandTable {
    struct Cell {
        double value = 0;
        int decimals = 2;
        bool given = false; ///< printed, not asked for
    };
    std::string id = {}; ///< of the lesson's block, for done(); may be empty
    std::string title = {}, task = {};
    std::string hint = {};                            ///< below the table; may be empty
    std::vector<std::string> columns = {}, rows = {}; ///< labels
    std::vector<Cell> cells = {};                     ///< row by row
    /// The last stage whose numbers the map may show before the table is filled in; empty: the table hides
    /// none.
    std::string last_stage = {};
    /// Of row_by_hand: the row of weights that the map hides; row -1: none.
    std::int64_t head = 0, row = -1;
    std::size_t map = 0; ///< index among the maps of the handout
};

/// The cells of a target with their labels. Throws Error(input) if the problem lacks them.
HandTable cells_table(const lesson::Target& cells, int decimals, const HandoutMap& map);

/// The table of a lesson's block. Throws Error(input) if the problem lacks its cells.
HandTable table_of(const lesson::FillTable& table, const HandoutMap& map);

/// One row of weights, from the scaled scores, for a row that the scene does not speak of. Nothing for a
/// sentence that is too long for work by hand.
std::optional<HandTable> row_by_hand(const lesson::StepScene& scene, const HandoutMap& map);

/// A number of a table with its decimals.
std::string printed(const HandTable::Cell& cell);

/// A table with its labels. The call writes the inside of cell `n`, given a label in words.
std::string print_table(const HandTable& table,
                        const std::function<std::string(std::size_t n, const std::string& label)>& cell);

/// Ways to print a table. `field`: index of the table among those of the page, for the script.
std::string interactive_table(const HandTable& table, std::size_t field);
std::string empty_table(const HandTable& table);
std::string solved_table(const HandTable& table);

} // namespace headscope::app
