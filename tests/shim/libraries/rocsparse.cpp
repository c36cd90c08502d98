// SPDX-License-Identifier: MIT
// Routines of rocSPARSE, and two of hipSPARSE, against dense arithmetic on the CPU. Entries are small integers wherever
// that is possible, so that sums are exact in any order.
#include "../hip/array.h"

#include <hipsparse/hipsparse.h>
#include <rocsparse/rocsparse.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace {

void ok(int status, int line)
{
    if (status) {
        std::fprintf(stderr, "%s:%d: status %d\n", __FILE__, line, status);
        std::exit(1);
    }
}
#define OK(call) ok(static_cast<int>(call), __LINE__)

using floats = std::vector<float>;
using integers = std::vector<int>;

uint32_t random_state = 1;
unsigned random_below(unsigned limit)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % limit;
}

template <typename T> using device = device_array<T>;

// A matrix of rows x columns, row by row, as CSR and dense.
struct matrix {
    int rows, columns;
    floats values, dense;
    integers row_begins{0}, column_indexes;
    int nonzeros() const
    {
        return static_cast<int>(values.size());
    }
    void add(int row, int column, float value)
    {
        values.push_back(value);
        column_indexes.push_back(column);
        dense[static_cast<size_t>(row) * columns + column] = value;
    }
    integers row_indexes() const
    {
        integers indexes;
        for (int row = 0; row < rows; row++)
            indexes.insert(indexes.end(), row_begins[row + 1] - row_begins[row], row);
        return indexes;
    }
};

matrix random_matrix(int rows, int columns, unsigned one_in)
{
    matrix m{rows, columns, {}, floats(static_cast<size_t>(rows) * columns), {0}, {}};
    for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++)
            if (row == column || !random_below(one_in))
                m.add(row, column, static_cast<float>(1 + random_below(7)));
        m.row_begins.push_back(m.nonzeros());
    }
    return m;
}

floats random_vector(size_t size)
{
    floats v(size);
    for (float &x : v)
        x = static_cast<float>(random_below(9)) - 4;
    return v;
}

// alpha A x + beta y
floats multiply(const matrix &a, const floats &x, float alpha, float beta, floats y)
{
    for (int row = 0; row < a.rows; row++) {
        float sum = 0;
        for (int column = 0; column < a.columns; column++)
            sum += a.dense[static_cast<size_t>(row) * a.columns + column] * x[column];
        y[row] = alpha * sum + beta * y[row];
    }
    return y;
}

struct on_device {
    explicit on_device(const matrix &m)
        : values(m.values), row_begins(m.row_begins), columns(m.column_indexes), rows(m.row_indexes())
    {
        OK(rocsparse_create_mat_descr(&descriptor));
        OK(rocsparse_create_mat_info(&info));
    }
    ~on_device()
    {
        OK(rocsparse_destroy_mat_descr(descriptor));
        OK(rocsparse_destroy_mat_info(info));
    }
    device<float> values;
    device<int> row_begins, columns, rows;
    rocsparse_mat_descr descriptor;
    rocsparse_mat_info info;
};

constexpr auto none = rocsparse_operation_none;
constexpr auto zero = rocsparse_index_base_zero;
const float two = 2, three = 3, one = 1, nothing = 0;

// ---- level 1: axpyi, doti, gthr, gthrz, sctr, roti ----

void level_1(rocsparse_handle handle)
{
    constexpr int size = 3000, count = size / 3;
    integers places;
    for (int i = 0; i < count; i++)
        places.push_back(3 * i + static_cast<int>(random_below(3)));
    const floats x = random_vector(count), y = random_vector(size);
    const device<float> sparse(x), dense(y);
    const device<int> at(places);

    floats expected = y;
    for (int i = 0; i < count; i++)
        expected[places[i]] += 3 * x[i];
    OK(rocsparse_saxpyi(handle, count, &three, sparse, at, dense, zero));
    CHECK(dense.get() == expected);

    float dot = 0, sum = 0;
    for (int i = 0; i < count; i++)
        sum += x[i] * expected[places[i]];
    OK(rocsparse_sdoti(handle, count, sparse, at, dense, &dot, zero));
    HIP(hipDeviceSynchronize());
    CHECK(dot == sum);

    const device<float> gathered(count);
    floats values(count);
    for (int i = 0; i < count; i++)
        values[i] = expected[places[i]];
    OK(rocsparse_sgthr(handle, count, dense, gathered, at, zero));
    CHECK(gathered.get() == values);

    OK(rocsparse_sroti(handle, count, gathered, at, dense, &two, &three, zero)); // any c and s
    floats rotated(count);
    for (int i = 0; i < count; i++) {
        rotated[i] = 2 * values[i] + 3 * expected[places[i]];
        expected[places[i]] = 2 * expected[places[i]] - 3 * values[i];
    }
    CHECK(gathered.get() == rotated);
    CHECK(dense.get() == expected);

    OK(rocsparse_sgthrz(handle, count, dense, gathered, at, zero));
    for (int i = 0; i < count; i++) {
        values[i] = expected[places[i]];
        expected[places[i]] = 0;
    }
    CHECK(gathered.get() == values);
    CHECK(dense.get() == expected);

    OK(rocsparse_ssctr(handle, count, sparse, at, dense, zero));
    for (int i = 0; i < count; i++)
        expected[places[i]] = x[i];
    CHECK(dense.get() == expected);
}

// ---- matrix times vector: csrmv with and without analysis, coomv, ellmv ----

void matrix_vector(rocsparse_handle handle, const matrix &m, const on_device &a)
{
    const int nonzeros = m.nonzeros();
    const floats x = random_vector(m.columns), y = random_vector(m.rows), expected = multiply(m, x, 2, 3, y);
    const device<float> given(x);
    for (bool analysed : {false, true}) {
        const device<float> result(y);
        if (analysed)
            OK(rocsparse_scsrmv_analysis(handle, none, m.rows, m.columns, nonzeros, a.descriptor, a.values, a.row_begins,
                                         a.columns, a.info));
        OK(rocsparse_scsrmv(handle, none, m.rows, m.columns, nonzeros, &two, a.descriptor, a.values, a.row_begins, a.columns,
                            analysed ? a.info : nullptr, given, &three, result));
        CHECK(result.get() == expected);
    }
    OK(rocsparse_csrmv_clear(handle, a.info));

    const device<float> from_coo(y);
    OK(rocsparse_scoomv(handle, none, m.rows, m.columns, nonzeros, &two, a.descriptor, a.values, a.rows, a.columns, given,
                        &three, from_coo));
    CHECK(from_coo.get() == expected);

    int width;
    OK(rocsparse_csr2ell_width(handle, m.rows, a.descriptor, a.row_begins, a.descriptor, &width));
    int widest = 0;
    for (int row = 0; row < m.rows; row++)
        widest = std::max(widest, m.row_begins[row + 1] - m.row_begins[row]);
    CHECK(width == widest);
    const device<float> ell_values(static_cast<size_t>(width) * m.rows), from_ell(y);
    const device<int> ell_columns(static_cast<size_t>(width) * m.rows);
    OK(rocsparse_scsr2ell(handle, m.rows, a.descriptor, a.values, a.row_begins, a.columns, a.descriptor, width, ell_values,
                          ell_columns));
    OK(rocsparse_sellmv(handle, none, m.rows, m.columns, &two, a.descriptor, ell_values, ell_columns, width, given, &three,
                        from_ell));
    CHECK(from_ell.get() == expected);
}

// ---- matrix times matrix: csrmm, csrgemm, csrgeam ----

void matrix_matrix(rocsparse_handle handle, const matrix &m, const on_device &a)
{
    constexpr int count = 5; // vectors of csrmm, by columns
    const floats b = random_vector(static_cast<size_t>(m.columns) * count);
    floats c = random_vector(static_cast<size_t>(m.rows) * count);
    const device<float> given(b), result(c);
    OK(rocsparse_scsrmm(handle, none, none, m.rows, count, m.columns, m.nonzeros(), &two, a.descriptor, a.values, a.row_begins,
                        a.columns, given, m.columns, &three, result, m.rows));
    for (int i = 0; i < count; i++) {
        const floats y(&c[static_cast<size_t>(i) * m.rows], &c[static_cast<size_t>(i) * m.rows] + m.rows);
        const floats x(&b[static_cast<size_t>(i) * m.columns], &b[static_cast<size_t>(i) * m.columns] + m.columns);
        const floats column = multiply(m, x, 2, 3, y);
        std::copy(column.begin(), column.end(), c.begin() + static_cast<long>(i) * m.rows);
    }
    CHECK(result.get() == c);
}

void products(rocsparse_handle handle)
{
    const matrix m = random_matrix(70, 70, 12), n = random_matrix(70, 70, 9);
    const on_device a(m), b(n);
    rocsparse_mat_descr descriptor;
    rocsparse_mat_info info;
    OK(rocsparse_create_mat_descr(&descriptor));
    OK(rocsparse_create_mat_info(&info));
    for (bool product : {true, false}) {
        const device<int> begins(m.rows + 1);
        int nonzeros = 0;
        size_t bytes = 16;
        if (product)
            OK(rocsparse_scsrgemm_buffer_size(handle, none, none, 70, 70, 70, &two, a.descriptor, m.nonzeros(), a.row_begins,
                                              a.columns, b.descriptor, n.nonzeros(), b.row_begins, b.columns, nullptr, nullptr, 0,
                                              nullptr, nullptr, info, &bytes));
        const device<char> buffer(bytes);
        if (product)
            OK(rocsparse_csrgemm_nnz(handle, none, none, 70, 70, 70, a.descriptor, m.nonzeros(), a.row_begins, a.columns,
                                     b.descriptor, n.nonzeros(), b.row_begins, b.columns, nullptr, 0, nullptr, nullptr, descriptor,
                                     begins, &nonzeros, info, buffer));
        else
            OK(rocsparse_csrgeam_nnz(handle, 70, 70, a.descriptor, m.nonzeros(), a.row_begins, a.columns, b.descriptor,
                                     n.nonzeros(), b.row_begins, b.columns, descriptor, begins, &nonzeros));
        const device<float> values(nonzeros), dense(70 * 70);
        const device<int> columns(nonzeros);
        if (product)
            OK(rocsparse_scsrgemm(handle, none, none, 70, 70, 70, &two, a.descriptor, m.nonzeros(), a.values, a.row_begins,
                                  a.columns, b.descriptor, n.nonzeros(), b.values, b.row_begins, b.columns, nullptr, nullptr, 0,
                                  nullptr, nullptr, nullptr, descriptor, values, begins, columns, info, buffer));
        else
            OK(rocsparse_scsrgeam(handle, 70, 70, &two, a.descriptor, m.nonzeros(), a.values, a.row_begins, a.columns, &three,
                                  b.descriptor, n.nonzeros(), b.values, b.row_begins, b.columns, descriptor, values, begins,
                                  columns));
        OK(rocsparse_scsr2dense(handle, 70, 70, descriptor, values, begins, columns, dense, 70)); // by columns
        const floats got = dense.get();
        int used = 0;
        for (int row = 0; row < 70; row++)
            for (int column = 0; column < 70; column++) {
                float sum = 0;
                for (int k = 0; k < 70; k++)
                    sum += m.dense[row * 70 + k] * n.dense[k * 70 + column];
                const int at = row * 70 + column;
                const float expected = product ? 2 * sum : 2 * m.dense[at] + 3 * n.dense[at];
                CHECK(got[column * 70 + row] == expected);
                used += expected != 0;
            }
        CHECK(used == nonzeros); // all entries are positive, so none cancels
    }
    OK(rocsparse_destroy_mat_descr(descriptor));
    OK(rocsparse_destroy_mat_info(info));
}

// ---- triangular solver and incomplete LU ----

void solvers(rocsparse_handle handle)
{
    constexpr int size = 300;
    matrix m{size, size, {}, floats(size * size), {0}, {}};
    for (int row = 0; row < size; row++) { // lower triangle; the diagonal divides without a remainder
        for (int column = 0; column < row; column++)
            if (!random_below(40))
                m.add(row, column, static_cast<float>(1 + random_below(3)));
        m.add(row, row, 2);
        m.row_begins.push_back(m.nonzeros());
    }
    const on_device a(m);
    OK(rocsparse_set_mat_fill_mode(a.descriptor, rocsparse_fill_mode_lower));
    const floats right = random_vector(size);
    const device<float> b(right), x(size);
    size_t bytes;
    OK(rocsparse_scsrsv_buffer_size(handle, none, size, m.nonzeros(), a.descriptor, a.values, a.row_begins, a.columns, a.info,
                                    &bytes));
    const device<char> buffer(bytes);
    OK(rocsparse_scsrsv_analysis(handle, none, size, m.nonzeros(), a.descriptor, a.values, a.row_begins, a.columns, a.info,
                                 rocsparse_analysis_policy_force, rocsparse_solve_policy_auto, buffer));
    OK(rocsparse_scsrsv_solve(handle, none, size, m.nonzeros(), &two, a.descriptor, a.values, a.row_begins, a.columns, a.info, b,
                              x, rocsparse_solve_policy_auto, buffer));
    const floats got = x.get();
    std::vector<double> solution(size);
    for (int row = 0; row < size; row++) {
        double sum = 2 * right[row], magnitude = std::fabs(sum);
        for (int column = 0; column < row; column++) {
            const double term = static_cast<double>(m.dense[row * size + column]) * solution[column];
            sum -= term;
            magnitude += std::fabs(term);
        }
        solution[row] = got[row]; // so that errors do not add up
        CHECK(std::fabs(got[row] - sum / 2) <= 1e-5 * (1 + magnitude));
    }

    // LU of a tridiagonal matrix has no fill-in, so that the incomplete one is complete.
    constexpr int length = 200;
    matrix t{length, length, {}, floats(length * length), {0}, {}};
    for (int row = 0; row < length; row++) {
        for (int column = std::max(row - 1, 0); column <= std::min(row + 1, length - 1); column++)
            t.add(row, column, row == column ? 4.0f : -1.0f);
        t.row_begins.push_back(t.nonzeros());
    }
    const on_device lu(t);
    OK(rocsparse_scsrilu0_buffer_size(handle, length, t.nonzeros(), lu.descriptor, lu.values, lu.row_begins, lu.columns, lu.info,
                                      &bytes));
    const device<char> space(bytes);
    OK(rocsparse_scsrilu0_analysis(handle, length, t.nonzeros(), lu.descriptor, lu.values, lu.row_begins, lu.columns, lu.info,
                                   rocsparse_analysis_policy_force, rocsparse_solve_policy_auto, space));
    OK(rocsparse_scsrilu0(handle, length, t.nonzeros(), lu.descriptor, lu.values, lu.row_begins, lu.columns, lu.info,
                          rocsparse_solve_policy_auto, space));
    const floats factors = lu.values.get();
    double diagonal = 4;
    for (int row = 0; row < length; row++) {
        const int begin = t.row_begins[row];
        if (row) {
            CHECK(std::fabs(factors[begin] + 1 / diagonal) < 1e-6);
            diagonal = 4 - 1 / diagonal;
        }
        CHECK(std::fabs(factors[begin + (row > 0)] - diagonal) < 1e-5);
    }
}

// ---- conversions: csr2coo, coo2csr, csr2csc, dense2csr, nnz, csrsort ----

void conversions(rocsparse_handle handle, const matrix &m, const on_device &a)
{
    const int nonzeros = m.nonzeros();
    const device<int> rows(nonzeros), begins(m.rows + 1);
    OK(rocsparse_csr2coo(handle, a.row_begins, nonzeros, m.rows, rows, zero));
    CHECK(rows.get() == m.row_indexes());
    OK(rocsparse_coo2csr(handle, rows, nonzeros, m.rows, begins, zero));
    CHECK(begins.get() == m.row_begins);

    size_t bytes;
    OK(rocsparse_csr2csc_buffer_size(handle, m.rows, m.columns, nonzeros, a.row_begins, a.columns, rocsparse_action_numeric,
                                     &bytes));
    const device<char> buffer(bytes);
    const device<float> by_columns(nonzeros);
    const device<int> row_of(nonzeros), column_begins(m.columns + 1);
    OK(rocsparse_scsr2csc(handle, m.rows, m.columns, nonzeros, a.values, a.row_begins, a.columns, by_columns, row_of,
                          column_begins, rocsparse_action_numeric, zero, buffer));
    floats values;
    integers indexes, ends{0};
    for (int column = 0; column < m.columns; column++) {
        for (int row = 0; row < m.rows; row++)
            if (const float value = m.dense[static_cast<size_t>(row) * m.columns + column]; value != 0) {
                values.push_back(value);
                indexes.push_back(row);
            }
        ends.push_back(static_cast<int>(values.size()));
    }
    CHECK(by_columns.get() == values);
    CHECK(row_of.get() == indexes);
    CHECK(column_begins.get() == ends);

    floats transposed(m.dense.size()); // dense matrices are stored by columns
    for (int row = 0; row < m.rows; row++)
        for (int column = 0; column < m.columns; column++)
            transposed[static_cast<size_t>(column) * m.rows + row] = m.dense[static_cast<size_t>(row) * m.columns + column];
    const device<float> dense(transposed), from_dense(nonzeros);
    const device<int> per_row(m.rows), dense_begins(m.rows + 1), dense_columns(nonzeros);
    int total = 0;
    OK(rocsparse_snnz(handle, rocsparse_direction_row, m.rows, m.columns, a.descriptor, dense, m.rows, per_row, &total));
    CHECK(total == nonzeros);
    OK(rocsparse_sdense2csr(handle, m.rows, m.columns, a.descriptor, dense, m.rows, per_row, from_dense, dense_begins,
                            dense_columns));
    CHECK(from_dense.get() == m.values);
    CHECK(dense_columns.get() == m.column_indexes);

    integers shuffled = m.column_indexes;
    for (int row = 0; row < m.rows; row++)
        std::reverse(shuffled.begin() + m.row_begins[row], shuffled.begin() + m.row_begins[row + 1]);
    const device<int> sorted(shuffled), permutation(nonzeros);
    OK(rocsparse_csrsort_buffer_size(handle, m.rows, m.columns, nonzeros, a.row_begins, sorted, &bytes));
    const device<char> room(bytes);
    OK(rocsparse_create_identity_permutation(handle, nonzeros, permutation));
    OK(rocsparse_csrsort(handle, m.rows, m.columns, nonzeros, a.descriptor, a.row_begins, sorted, permutation, room));
    CHECK(sorted.get() == m.column_indexes);
    const integers order = permutation.get();
    for (int i = 0; i < nonzeros; i++)
        CHECK(shuffled[order[i]] == m.column_indexes[i]);
}

// ---- hipSPARSE ----

void hip_names(const matrix &m, const on_device &a)
{
    hipsparseHandle_t handle;
    hipsparseMatDescr_t descriptor;
    OK(hipsparseCreate(&handle));
    OK(hipsparseCreateMatDescr(&descriptor));
    const floats x = random_vector(m.columns), y = random_vector(m.rows);
    const device<float> given(x), result(y);
    OK(hipsparseScsrmv(handle, HIPSPARSE_OPERATION_NON_TRANSPOSE, m.rows, m.columns, m.nonzeros(), &one, descriptor, a.values,
                       a.row_begins, a.columns, given, &nothing, result));
    CHECK(result.get() == multiply(m, x, 1, 0, y));
    const device<float> dense(x);
    const device<int> at(integers{5, 7, 11});
    const device<float> sparse(floats{1, 2, 3});
    floats expected = x;
    expected[5] += 2, expected[7] += 4, expected[11] += 6;
    OK(hipsparseSaxpyi(handle, 3, &two, sparse, at, dense, HIPSPARSE_INDEX_BASE_ZERO));
    CHECK(dense.get() == expected);
    OK(hipsparseDestroyMatDescr(descriptor));
    OK(hipsparseDestroy(handle));
}

} // namespace

int main()
{
    rocsparse_handle handle;
    OK(rocsparse_create_handle(&handle));
    const matrix m = random_matrix(400, 300, 30);
    {
        const on_device a(m);
        level_1(handle);
        matrix_vector(handle, m, a);
        matrix_matrix(handle, m, a);
        products(handle);
        solvers(handle);
        conversions(handle, m, a);
        hip_names(m, a);
    }
    OK(rocsparse_destroy_handle(handle));
    return 0;
}
