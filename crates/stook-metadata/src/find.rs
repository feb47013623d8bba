//! Finding the next byte that means something, many bytes at a time.

/// As many bytes as are looked at together: enough for the compiler to use wide registers.
const WIDTH: usize = 32;

/// The offset of the first byte that is `special`, which should be a few comparisons.
#[inline]
pub(crate) fn find(bytes: &[u8], special: impl Fn(u8) -> bool + Copy) -> Option<usize> {
    let mut offset = 0;
    let mut chunks = bytes.chunks_exact(WIDTH);
    for chunk in &mut chunks {
        // No short cut here: that is what lets all bytes be compared at once.
        if chunk.iter().fold(false, |any, &byte| any | special(byte)) {
            break;
        }
        offset += WIDTH;
    }
    let rest = &bytes[offset..];
    rest.iter()
        .position(|&byte| special(byte))
        .map(|position| offset + position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_special_byte_is_found_wherever_it_stands() {
        for length in 0..100 {
            let mut bytes = vec![b'a'; length];
            assert_eq!(find(&bytes, |byte| byte == b'x'), None);
            for position in (0..length).rev() {
                bytes[position] = b'x';
                assert_eq!(find(&bytes, |byte| byte == b'x'), Some(position));
            }
        }
    }
}
