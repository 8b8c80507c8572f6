//! Numbering of the cells of a cross-classification: the first attribute varies slowest, everywhere.

/// The numbers of categories of several attributes, whose combinations are the *cells*.
///
/// Cells are numbered `(x1 * a2 + x2) * a3 + ...`, for categories `x` and numbers of categories `a`.
///
/// ```
/// use candor_base::shape::Shape;
///
/// let shape = Shape::new(vec![2, 3, 4]);
/// assert_eq!((shape.cells(), shape.stride(0)), (24, 12));
/// assert_eq!(shape.cell(&[1usize, 0, 2]), 14);
/// assert_eq!(shape.codes(14), [1, 0, 2]);
/// // The cell of the third and the first attribute that holds it.
/// assert_eq!(shape.project_cell(14, &[2, 0]), 2 * 2 + 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    sizes: Vec<usize>,
    strides: Vec<usize>,
}

impl Shape {
    /// Creates the shape of attributes with these numbers of categories.
    pub fn new(sizes: Vec<usize>) -> Shape {
        let mut stride = 1usize;
        let mut strides = vec![1; sizes.len()];
        for (own, &size) in strides.iter_mut().zip(&sizes).rev() {
            *own = stride;
            stride = stride.saturating_mul(size);
        }
        Shape { sizes, strides }
    }

    /// Returns the number of categories of each attribute.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Returns the number of cells, or `usize::MAX` if there are more.
    pub fn cells(&self) -> usize {
        self.sizes.iter().fold(1, |cells, &size| cells.saturating_mul(size))
    }

    /// Returns the difference of the numbers of two cells that differ by one in this attribute.
    #[inline]
    pub fn stride(&self, attribute: usize) -> usize {
        self.strides[attribute]
    }

    /// Returns the number of a cell.
    ///
    /// # Panics
    /// Panics if a category is out of range.
    #[inline]
    pub fn cell<C: Copy + Into<usize>>(&self, codes: &[C]) -> usize {
        self.sizes.iter().zip(codes).fold(0, |cell, (&size, &code)| {
            assert!(code.into() < size, "category out of range");
            cell * size + code.into()
        })
    }

    /// Returns the cell of one row of columns of codes, without checking that categories are in range.
    #[inline]
    pub fn cell_at(&self, columns: &[&[u16]], row: usize) -> usize {
        self.sizes.iter().zip(columns).fold(0, |cell, (&size, column)| cell * size + usize::from(column[row]))
    }

    /// Returns the category of one attribute in a cell.
    #[inline]
    pub fn code(&self, cell: usize, attribute: usize) -> usize {
        cell / self.strides[attribute] % self.sizes[attribute]
    }

    /// Returns the categories of all attributes in a cell.
    pub fn codes(&self, cell: usize) -> Vec<usize> {
        (0..self.sizes.len()).map(|attribute| self.code(cell, attribute)).collect()
    }

    /// Returns the shape of the table over some attributes, in the given order.
    pub fn project(&self, attributes: &[usize]) -> Shape {
        Shape::new(attributes.iter().map(|&attribute| self.sizes[attribute]).collect())
    }

    /// Returns the cell of a [projected table](Shape::project) that contains this cell.
    #[inline]
    pub fn project_cell(&self, cell: usize, attributes: &[usize]) -> usize {
        attributes.iter().fold(0, |sum, &attribute| sum * self.sizes[attribute] + self.code(cell, attribute))
    }

    /// Iterates over [`Shape::project_cell`] of all cells, in increasing order.
    pub fn project_all(&self, attributes: &[usize]) -> impl Iterator<Item = usize> + use<> {
        let table = self.project(attributes);
        let mut steps = vec![0; self.sizes.len()];
        attributes.iter().enumerate().for_each(|(place, &attribute)| steps[attribute] = table.strides[place]);
        let (sizes, mut codes, mut next) = (self.sizes.clone(), vec![0; self.sizes.len()], 0);
        (0..self.cells()).map(move |_| {
            let cell = next;
            for attribute in (0..sizes.len()).rev() {
                codes[attribute] += 1;
                next += steps[attribute];
                if codes[attribute] < sizes[attribute] {
                    break;
                }
                next -= steps[attribute] * sizes[attribute];
                codes[attribute] = 0;
            }
            cell
        })
    }

    /// Iterates over the fibers along one attribute, which are the sets of cells that differ in this attribute only.
    pub fn fibers(
        &self,
        attribute: usize,
    ) -> impl Iterator<Item = impl Iterator<Item = usize> + Clone + use<>> + use<> {
        let (size, stride) = (self.sizes[attribute], self.strides[attribute]);
        let firsts = (0..self.cells()).filter(move |cell| (cell / stride).is_multiple_of(size));
        firsts.map(move |first| (0..size).map(move |category| first + category * stride))
    }

    /// Returns the one-way table of an attribute, summed from a table over all cells.
    pub fn margin(&self, table: &[f64], attribute: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.sizes[attribute]];
        table.iter().enumerate().for_each(|(cell, share)| sums[self.code(cell, attribute)] += share);
        sums
    }

    /// Returns a table with its attributes in another order.
    pub fn permuted(&self, table: &[f64], order: &[usize]) -> Vec<f64> {
        let mut permuted = vec![0.0; table.len()];
        self.project_all(order).zip(table).for_each(|(cell, value)| permuted[cell] = *value);
        permuted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbered_as_nested_loops_count() {
        let shape = Shape::new(vec![2, 3, 4]);
        let mut cell = 0;
        for a in 0..2usize {
            for b in 0..3 {
                for c in 0..4 {
                    assert_eq!(shape.cell(&[a, b, c]), cell);
                    assert_eq!(shape.codes(cell), [a, b, c]);
                    assert_eq!(shape.project_cell(cell, &[1, 0]), b * 2 + a);
                    cell += 1;
                }
            }
        }
        assert_eq!(shape.cells(), cell);
        for attributes in [vec![], vec![1], vec![2, 0], vec![0, 1, 2]] {
            let expected = (0..24).map(|cell| shape.project_cell(cell, &attributes));
            assert!(shape.project_all(&attributes).eq(expected), "{attributes:?}");
        }
        assert_eq!(shape.project(&[2, 1]).sizes(), [4, 3]);
        assert_eq!(shape.cell_at(&[&[0, 1], &[0, 2], &[0, 3]], 1), 23);
        let none = Shape::new(Vec::new());
        assert_eq!((none.cells(), none.cell::<u16>(&[])), (1, 0));
        assert_eq!(Shape::new(vec![usize::MAX, 3]).cells(), usize::MAX);
    }

    #[test]
    fn lines_margins_and_other_orders() {
        let shape = Shape::new(vec![2, 3]);
        let lines = |attribute| shape.fibers(attribute).map(Iterator::collect).collect::<Vec<Vec<usize>>>();
        assert_eq!(lines(0), [[0, 3], [1, 4], [2, 5]]);
        assert_eq!(lines(1), [[0, 1, 2], [3, 4, 5]]);
        let table = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        assert_eq!(shape.margin(&table, 0), [7.0, 56.0]);
        assert_eq!(shape.margin(&table, 1), [9.0, 18.0, 36.0]);
        assert_eq!(shape.permuted(&table, &[1, 0]), [1.0, 8.0, 2.0, 16.0, 4.0, 32.0]);
    }

    #[test]
    #[should_panic(expected = "category out of range")]
    fn categories_out_of_range_have_no_cell() {
        Shape::new(vec![2, 3]).cell(&[0u16, 3]);
    }
}
