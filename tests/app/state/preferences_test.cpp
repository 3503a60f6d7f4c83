#include "app/state/preferences.h"

#include "app/commands/view_change.h"
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

TEST_CASE("a language that was chosen is remembered, and none says nothing") {
    ViewState view, later;
    read_preferences(preferences_json(view), later);
    CHECK(later.language == "");
    view.language = "de";
    read_preferences(preferences_json(view), later);
    CHECK(later.language == "de");
    read_preferences(R"({"language": 3})", later);
    CHECK(later.language == "de");
}

TEST_CASE("motion goes off by one switch, which is remembered and goes before what the desktop asks") {
    const Dims dims{1, 3, 3, 8, 8, 2, 2, 4, 4};
    ViewState view;
    CHECK(view.animates());
    app::apply(view, SetMotion{false}, dims);
    CHECK_FALSE(view.animates());
    CHECK_FALSE(view.flashes());
    app::apply(view, GoTo{StageGroup::split, -1}, dims);
    CHECK(view.arrival == 1.0F);
    advance(view, 0, 0.001, dims);
    CHECK(view.apart == 1.0F);

    ViewState later;
    read_preferences(preferences_json(view), later);
    CHECK_FALSE(later.animates());
    app::apply(later, SetMotion{true}, dims);
    later.reduced_motion = true;
    CHECK(later.animates());
}

} // namespace headscope::test
