// Approx(v).epsilon(e) is within e of v, relative to v, down to a millionth. doctest's own default adds 1 to
// v, not 0.000001: 0.02 and 0.03 would be alike within 2 %.
#define m_scale(one) m_scale((one)*1e-6)
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
