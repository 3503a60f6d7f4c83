#include "app/state/preferences.h"

#include "tests/catch.h"

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("whether the program opens with the Start page is remembered") {
    ViewState view;
    CHECK(view.start_page);
    view.start_page = false;
    ViewState later;
    read_preferences(preferences_json(view), later);
    CHECK_FALSE(later.start_page);
    for (const char* damaged : {"", "{}", R"({"start_page": 3})", "[false]"}) {
        ViewState fresh;
        read_preferences(damaged, fresh);
        CHECK(fresh.start_page);
    }
}

} // namespace headscope::test
